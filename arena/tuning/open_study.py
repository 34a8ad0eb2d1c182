"""How a study begins, or is taken up again."""

from __future__ import annotations

from contextlib import ExitStack

from caboose.arena.errors import RunError, cause
from caboose.arena.tuning.config import StudySpec
from caboose.arena.tuning.consistency import check_same, check_space, identities, meta_of
from caboose.arena.tuning.function_objectives import make_measure
from caboose.arena.tuning.resolve import declared_options, settle
from caboose.arena.tuning.run import Study, make_study
from caboose.arena.tuning.store import DATABASE, StudyStore


def begin(spec: StudySpec, stack: ExitStack) -> tuple[Study, StudyStore]:
    """A study that is ready to be played, with what was played before; ``stack`` closes what it opens. The folder is
    there and locked. Raises ``CallError`` and ``RunError``."""
    measure = None if spec.games else make_measure(spec, stack)
    engines = identities(spec)
    startup = max((games.control.startup for games in spec.lists), default=10_000.0)
    space = settle(spec, declared_options(spec.engine, startup, spec.folder))
    study = make_study(spec, space, measure)
    path, meta = spec.folder / DATABASE, meta_of(spec, space, engines)
    if not path.exists():
        try:
            StudyStore.create(path, meta)
        except OSError as error:
            raise RunError(f"{path}: {cause(error)}") from None
    store = stack.enter_context(StudyStore.open(path, writing=True))
    if store.last():
        check_same(spec, store, engines)
        check_space(spec, store, space)
        store.set_meta("file", meta["file"])
    else:  # nothing has come of it, such as where a first sample found a mistake that is mended now
        for key, value in meta.items():
            store.set_meta(key, value)
    study.load(store)
    return study, store


def look(spec: StudySpec) -> Study:
    """A study as far as it is, without an engine. Raises ``CallError`` and ``RunError``."""
    path = spec.folder / DATABASE
    if not path.exists():
        raise RunError(f"{spec.path}: the study has not begun: there is no {path}")
    with StudyStore.open(path) as store:
        check_same(spec, store)
        study = make_study(spec, store.space())
        study.load(store)
    return study
