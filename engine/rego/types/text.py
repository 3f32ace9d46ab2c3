"""Two types side by side, as OPA writes them under a type error: in full, or where too long only where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.rego.types.types import AnyOf, Array, Object, Set, Type, key_text, text_of, unifies
from engine.rego.values import Frozen

WIDEST_LINE: Final = 80
WIDEST_PART: Final = 32
DEEPEST: Final = 8
LEFT_OUT: Final = "..."

HINT: Final = (
    "hint  : both sides are {} but their types differ, so they can never be equal"
    " (see https://www.openpolicyagent.org/docs/errors/rego-type-error/match-error)"
)
KINDS: Final[tuple[tuple[type, str], ...]] = ((Object, "objects"), (Array, "arrays"), (Set, "sets"))

Named = tuple[str, Type | None]
"""A parameter: its name, empty if it has none, and its type."""


def match_lines(left: Type | None, right: Type | None) -> list[str]:
    lines = [f"left  : {text_of(left)}", f"right : {text_of(right)}"]
    if _too_wide(lines):
        one, other = difference(left, right)
        lines = [f"left  : {one}", f"right : {other}"]
    hints = [HINT.format(name) for kind, name in KINDS if isinstance(left, kind) and isinstance(right, kind)]
    return lines + hints


def argument_lines(have: Sequence[Type | None], want: Sequence[Named], variadic: Type | None) -> list[str]:
    more = [f"{variadic}..."] if variadic is not None else []
    lines = [
        _line("have", map(text_of, have)),
        _line("want", [*(_named(name, text_of(of)) for name, of in want), *more]),
    ]
    if not _too_wide(lines):
        return lines
    both = [_argument(one, named) for one, named in zip(have, want, strict=False)]
    haves = [one for one, _ in both] + [shortened(of) for of in have[len(both) :]]
    wants = [other for _, other in both] + [_shortened_named(named) for named in want[len(both) :]]
    return [_line("have", haves), _line("want", [*wants, *([f"{shortened(variadic)}..."] if more else [])])]


def difference(one: Type | None, other: Type | None, depth: int = 0) -> tuple[str, str]:
    """Of two types, what tells them apart."""
    if depth >= DEEPEST or one is None or other is None or str(one) == str(other):
        return shortened(one), shortened(other)
    if isinstance(one, Set) and isinstance(other, Set) and one.of is not None and other.of is not None:
        left, right = difference(one.of, other.of, depth + 1)
        return f"set[{left}]", f"set[{right}]"
    if isinstance(one, Array) and isinstance(other, Array):
        return _arrays(one, other, depth)
    if isinstance(one, Object) and isinstance(other, Object):
        return _objects(one, other, depth)
    if isinstance(one, AnyOf) and isinstance(other, AnyOf):
        return _unions(one, other)
    return shortened(one), shortened(other)


def shortened(of: Type | None) -> str:
    """In full if that is short, else its outermost part."""
    full = text_of(of)
    return full if len(full) <= WIDEST_PART else outline(of, 0)


def outline(of: Type | None, depth: int) -> str:
    """What is nested deeper than `depth` is left out."""
    if depth < 0:
        return text_of(of)
    if isinstance(of, Set) and of.of is not None:
        return f"set[{_nested(of.of, depth)}]"
    if isinstance(of, Array):
        static = [LEFT_OUT] if depth == 0 and of.static else [outline(item, depth - 1) for item in of.static]
        return _composite("array", static, "" if of.dynamic is None else _nested(of.dynamic, depth))
    if isinstance(of, Object):
        return _object_outline(of, depth)
    if isinstance(of, AnyOf):
        return _composite("any", [LEFT_OUT] if depth == 0 else [outline(each, depth - 1) for each in of.of], "")
    return text_of(of)


def _nested(of: Type, depth: int) -> str:
    return LEFT_OUT if depth == 0 else outline(of, depth - 1)


def _object_outline(of: Object, depth: int) -> str:
    static = [_property(key, outline(item, depth - 1)) for key, item in of.static]
    if depth == 0 and of.static:
        static = [LEFT_OUT]
    dynamic = ": ".join(outline(part, depth - 1) for part in of.dynamic or ())
    return _composite("object", static, LEFT_OUT if depth == 0 and of.dynamic is not None else dynamic)


def _argument(have: Type | None, want: Named) -> tuple[str, str]:
    """Where the argument would do, it is not what the error is about."""
    name, of = want
    if unifies(have, of):
        return shortened(have), _shortened_named(want)
    left, right = difference(have, of)
    return left, _named(name, right)


def _shortened_named(named: Named) -> str:
    name, of = named
    full = _named(name, text_of(of))
    return full if len(full) <= WIDEST_PART else _named(name, outline(of, 0))


def _arrays(one: Array, other: Array, depth: int) -> tuple[str, str]:
    if len(one.static) != len(other.static) or (one.dynamic is None) != (other.dynamic is None):
        return outline(one, 1), outline(other, 1)
    items = [difference(a, b, depth + 1) for a, b in zip(one.static, other.static, strict=True)]
    more = ("", "") if one.dynamic is None else difference(one.dynamic, other.dynamic, depth + 1)
    left = _composite("array", [item for item, _ in items], more[0])
    return left, _composite("array", [item for _, item in items], more[1])


def _objects(one: Object, other: Object, depth: int) -> tuple[str, str]:
    left: list[str] = []
    right: list[str] = []
    for key, of in one.static:
        if key not in other.by_key:
            left.append(_property(key, shortened(of)))
        elif text_of(of) != text_of(other.by_key[key]):
            left.append(_property(key, difference(of, other.by_key[key], depth + 1)[0]))
    for key, of in other.static:
        if key not in one.by_key:
            right.append(_property(key, shortened(of)))
        elif text_of(of) != text_of(one.by_key[key]):
            right.append(_property(key, difference(one.by_key[key], of, depth + 1)[1]))
    same = any(key in other.by_key and text_of(of) == text_of(other.by_key[key]) for key, of in one.static)
    more = [LEFT_OUT] if same else []
    dynamic = _dynamic(one, other, depth)
    return _composite("object", left + more, dynamic[0]), _composite("object", right + more, dynamic[1])


def _dynamic(one: Object, other: Object, depth: int) -> tuple[str, str]:
    if one.dynamic is not None and other.dynamic is not None:
        key, value = (difference(a, b, depth + 1) for a, b in zip(one.dynamic, other.dynamic, strict=True))
        return f"{key[0]}: {value[0]}", f"{key[1]}: {value[1]}"
    left, right = (": ".join(map(shortened, each.dynamic or ())) for each in (one, other))
    return left, right


def _unions(one: AnyOf, other: AnyOf) -> tuple[str, str]:
    left, right = (list(map(str, each.of)) for each in (one, other))
    more = [LEFT_OUT] if set(left) & set(right) else []
    lone = [shortened(of) for of in one.of if str(of) not in right]
    rest = [shortened(of) for of in other.of if str(of) not in left]
    return _composite("any", lone + more, ""), _composite("any", rest + more, "")


def _composite(kind: str, static: Sequence[str], dynamic: str) -> str:
    return kind + (f"<{', '.join(static)}>" if static else "") + (f"[{dynamic}]" if dynamic else "")


def _property(key: Frozen, of: str) -> str:
    return f"{key_text(key)}: {of}"


def _named(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text


def _line(word: str, parts: Iterable[str]) -> str:
    return f"{word}: ({', '.join(parts)})"


def _too_wide(lines: Iterable[str]) -> bool:
    return any(len(line) > WIDEST_LINE for line in lines)
