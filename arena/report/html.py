"""Elements of HTML and SVG. All text is escaped when a tree is written."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, tostring

from caboose.protocol.notation.lines import printable

Child = Element | str | None
"""What an element may hold; None stands for nothing."""

_BLANKS: Final = "\n\t\u00a0\u2009\u202f"
_LESS: Final = "\ue000"  # for < in an attribute, which the standard library would leave as it is


def element(tag: str, *children: Child, **attributes: str | float) -> Element:
    """An element with ``children`` in their order.

    In the names of ``attributes`` ``_`` stands for ``-``, and one at the end is left out: ``class_``, ``aria_label``.
    """
    made = Element(
        tag, {_attribute(name): clean(_number(value)).replace("<", _LESS) for name, value in attributes.items()}
    )
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    """Adds an element or text at the end of ``parent``."""
    if isinstance(child, Element):
        parent.append(child)
    elif child:
        text = clean(child)
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text


def written(root: Element) -> str:
    """The HTML of an element and all in it."""
    return tostring(root, encoding="unicode", method="html").replace(_LESS, "&lt;")


def clean(text: str) -> str:
    """``text`` with escapes for what no page may hold, for what is not seen, and for what turns the direction of
    writing round; but with ends of lines."""
    return printable(text, _BLANKS)


def _attribute(name: str) -> str:
    return name.removesuffix("_").replace("_", "-")


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
