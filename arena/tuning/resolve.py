"""The parameters of a study as its engine has them: an engine is asked what options it declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from caboose.arena.blocks.contestants import make_builtin
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.errors import CallError, RunError
from caboose.arena.tuning.config import ParameterSpec, StudySpec
from caboose.arena.tuning.space import GRAINS, Parameter, Space
from caboose.engine.bot_api import Option, OptionError
from caboose.protocol.process.launch import PLAIN
from caboose.protocol.process.process import EngineFault
from caboose.protocol.referee.timing import TimeControl

_TUNED: Final = ("spin", "check", "string", "combo")
_OF_NUMBERS: Final = ("min", "max", "step", "log", "integer")
MOST_SLOPED: Final = 2  # choices that SPSA can tell apart: from one to the other is a slope


def declared_options(spec: EngineSpec, startup: float, hidden: Path) -> Mapping[str, Option]:
    """The options that an engine declares; ``startup`` is what its start may take, in ms. Raises ``RunError`` when it
    does not start."""
    if spec.builtin:
        return make_builtin(spec.builtin, {}, measuring=False).options
    control = TimeControl(nodes=1, startup=startup)
    contestant = spec.contestant(hidden)
    process = contestant.entrant.process(control, contestant.launch or PLAIN, {})
    with process:
        try:
            process.start()
        except EngineFault as fault:
            raise RunError(f"{spec.name}: the engine does not start: {fault.detail}") from None
        return dict(process.options)


def settle(study: StudySpec, declared: Mapping[str, Option]) -> Space:
    """The space of a study. Raises ``CallError`` for parameters that the engine does not have or take."""
    fixed = dict(study.engine.options)
    space = Space(tuple([_parameter(spec, declared, fixed) for spec in study.parameters]))
    for spec, parameter in zip(study.parameters, space.parameters, strict=True):
        if study.method == "spsa" and len(parameter.choices) > MOST_SLOPED:
            raise CallError(
                f"{spec.where}: spsa follows slopes, and over {len(parameter.choices)} choices there is none: expected "
                f"another method, or as choices two of {', '.join(parameter.choices)}"
            )
    return space


def _parameter(spec: ParameterSpec, declared: Mapping[str, Option], fixed: Mapping[str, str]) -> Parameter:
    option = declared.get(spec.name)
    if option is None:
        known = ", ".join(name for name, each in declared.items() if each.type in _TUNED)
        raise CallError(f"{spec.where}: the engine has no such option, expected one of {known or 'none: it has none'}")
    if option.type not in _TUNED:
        raise CallError(
            f"{spec.where}: the option is a {option.type}, expected a spin, a check, a combo, or a string that takes a "
            "number"
        )
    if option.type == "combo":
        return _combo(spec, option, fixed)
    if spec.choices:
        raise CallError(f"{spec.places['choices']}: expected none, as the option is a {option.type}")
    low, high = _range(spec, option)
    whole = option.type != "string" if spec.integer is None else spec.integer
    if not whole and option.type != "string":
        raise CallError(f"{spec.where}: integer: False, expected true, as the option is a {option.type}")
    if spec.log and low <= 0:
        raise CallError(f"{spec.where}: the option begins at {low:g}, expected min above 0 with log")
    step = spec.step if spec.step is not None else 1.0 if whole else (high - low) / GRAINS
    if whole and not (step.is_integer() and low.is_integer() and high.is_integer()):
        raise CallError(
            f"{spec.where}: min {low:g}, max {high:g}, step {step:g}, expected whole numbers for this option"
        )
    if step > high - low:
        raise CallError(f"{spec.where}: step: {step:g}, expected at most {high - low:g}, the whole range")
    parameter = Parameter(
        name=spec.name,
        low=low,
        high=high,
        step=step,
        current=_current(spec, option, fixed),
        log=spec.log,
        kind=option.type,
    )
    if not low <= parameter.current <= high:
        raise CallError(
            f"{spec.where}: its value is {parameter.current:g} now, expected a range that holds it, not {low:g} to "
            f"{high:g}"
        )
    return parameter


def _combo(spec: ParameterSpec, option: Option, fixed: Mapping[str, str]) -> Parameter:
    for key in _OF_NUMBERS:
        if key in spec.places:
            raise CallError(f"{spec.places[key]}: it is for numbers, expected at most choices and current: a combo")
    known = ", ".join(dict.fromkeys(option.choices))
    for choice in spec.choices:
        if choice not in option.choices:
            raise CallError(f"{spec.places['choices']}: {choice[:40]!r}, expected some of {known}")
    choices = spec.choices or tuple(dict.fromkeys(option.choices))
    if len(choices) < 2:
        raise CallError(
            f"{spec.where}: it can only be {known or 'nothing'}, expected an option with at least two choices"
        )
    current = fixed.get(spec.name, option.default) if spec.current is None else spec.current
    if current not in choices:
        told = f"{spec.where}: its value is {str(current)[:40]!r} now"
        if spec.current is not None:
            told = f"{spec.places['current']}: {spec.current!r}"
        raise CallError(f"{told}, expected one of {', '.join(choices)}")
    return Parameter(
        name=spec.name,
        low=0,
        high=len(choices) - 1,
        step=1,
        current=float(choices.index(str(current))),
        kind=option.type,
        choices=choices,
    )


def _range(spec: ParameterSpec, option: Option) -> tuple[float, float]:
    if option.type == "check":
        return 0.0, 1.0
    if option.type == "string":
        if spec.low is None or spec.high is None:
            raise CallError(f"{spec.where}: the option is a string, which has no bounds: expected min and max")
        return spec.low, spec.high
    least, most = float(option.min or 0), float(option.max or 0)
    low = least if spec.low is None else spec.low
    high = most if spec.high is None else spec.high
    for key, value in (("min", low), ("max", high)):
        if not least <= value <= most:
            raise CallError(f"{spec.where}: {key}: {value:g}, expected {least:g} to {most:g}, the option's own bounds")
    if low >= high:
        raise CallError(f"{spec.where}: it can only be {low:g}, expected min below max")
    return low, high


def _current(spec: ParameterSpec, option: Option, fixed: Mapping[str, str]) -> float:
    """What the option is now: as the parameter says, else as the engine's options, else as its default."""
    if isinstance(spec.current, str):
        told = f"{spec.places['current']}: {spec.current[:40]!r}, expected a number"
        raise CallError(f"{told}, as the option is a {option.type}")
    if spec.current is not None:
        if option.type == "spin" and not float(spec.current).is_integer():
            raise CallError(f"{spec.places['current']}: {spec.current:g}, expected a whole number for this option")
        return spec.current
    text = fixed.get(spec.name, "" if option.default is None else str(option.default).lower())
    if option.type == "check":
        return float(text == "true")
    try:
        if option.type == "spin":
            option.parse(text)
        return float(text)
    except (OptionError, ValueError):
        raise CallError(f"{spec.where}: its value is {text[:40]!r} now, expected a number: say current = ...") from None
