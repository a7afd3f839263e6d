"""Values of the hub as JSON of limited size, and their comparison with expected values."""

import datetime
import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MOST_CHARACTERS = 2_000
MOST_CHARACTERS_OF_ALL = 16_000
MOST_ITEMS = 200
MOST_LEVELS = 12
# The largest integer in JSON that JavaScript represents exactly.
LARGEST_INTEGER = 2**53

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text or, if it is too long, its beginning and its number of characters."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def without_addresses(text: str) -> str:
    """The text without the addresses of objects, which differ in each run."""
    return _ADDRESS.sub("", text)


def as_text(value: Any) -> str:
    """A scalar as the text that a user would write. It is equal in each run, without addresses of objects."""
    if isinstance(value, enum.Enum):
        return as_text(value.value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return f"{len(value)} bytes"
    try:
        return without_addresses(str(value))
    except Exception:
        return type(value).__name__


class Plain:
    """Converts values to JSON with a common size limit. Everything beyond the limit is left out and counted."""

    def __init__(self, most: int = MOST_CHARACTERS_OF_ALL) -> None:
        self._left = most

    def of(self, value: Any, level: int = 0) -> Any:
        if isinstance(value, enum.Enum):
            return self.of(value.value, level)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float) and abs(value) <= LARGEST_INTEGER:
            self._left -= 8
            return value
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            if self._left <= 0 or level >= MOST_LEVELS:
                return f"… ({len(value)} items)"
            return self._mapping(value, level) if isinstance(value, Mapping) else self._list(value, level)
        return self._text(as_text(value))

    def _text(self, text: str) -> str:
        shown = cut(text, max(0, min(MOST_CHARACTERS, self._left)))
        self._left -= len(shown)
        return shown

    def _mapping(self, value: Mapping[Any, Any], level: int) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for count, (key, item) in enumerate(value.items()):
            if count >= MOST_ITEMS or self._left <= 0:
                return {**shown, "…": f"{len(value) - count} more"}
            shown[self._text(as_text(key))] = self.of(item, level + 1)
        return shown

    def _list(self, value: list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any], level: int) -> list[Any]:
        items = sorted(value, key=as_text) if isinstance(value, set | frozenset) else value
        shown: list[Any] = []
        for count, item in enumerate(items):
            if count >= MOST_ITEMS or self._left <= 0:
                return [*shown, f"… ({len(value) - count} more)"]
            shown.append(self.of(item, level + 1))
        return shown


def plain(value: Any) -> Any:
    """JSON of at most about 16 KB for any value: texts are truncated, dates become texts, and sets sorted lists."""
    return Plain().of(value)


def items_of(value: Any) -> list[str]:
    """The ids in a value that is one id, several separated by commas, or a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [as_text(item) for item in value] if isinstance(value, Iterable) else []


def matches(expected: Mapping[str, Any], value: Any) -> bool:
    """Whether a value is as expected: {text}, {number}, {regex}, {exact}, {object} or {list}."""
    [(form, operand)] = expected.items()
    return _FORMS[form](operand, value)


def _is_number(expected: float, value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return math.isclose(float(value), expected, rel_tol=1e-9, abs_tol=1e-6)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_text(expected: str, value: Any) -> bool:
    return value is not None and not isinstance(value, Mapping | list | tuple) and as_text(value) == expected


def _has_pattern(pattern: str, value: Any) -> bool:
    is_scalar = not isinstance(value, Mapping | list | tuple | set | frozenset)
    text = as_text(value) if is_scalar else json.dumps(plain(value), ensure_ascii=False)
    return value is not None and re.search(pattern, text) is not None


def _is_object(expected: Mapping[str, Any], value: Any) -> bool:
    return isinstance(value, Mapping) and all(matches(each, value.get(key)) for key, each in expected.items())


def _is_list(expected: list[Mapping[str, Any]], value: Any) -> bool:
    items = sorted(value, key=as_text) if isinstance(value, set | frozenset) else value
    return (
        isinstance(items, list | tuple)
        and len(items) == len(expected)
        and all(matches(each, item) for each, item in zip(expected, items, strict=True))
    )


_FORMS: dict[str, Callable[[Any, Any], bool]] = {
    "text": _is_text,
    "number": _is_number,
    "regex": _has_pattern,
    "exact": lambda expected, value: value is expected,
    "object": _is_object,
    "list": _is_list,
}


def described(expected: Mapping[str, Any]) -> str:
    """An expected value as a user would write it: `on`, `20`, `/motion/`."""
    [(form, operand)] = expected.items()
    if form == "regex":
        return f"/{cut(operand)}/"
    if form == "object":
        return f"{{{', '.join(f'{key}: {described(each)}' for key, each in operand.items())}}}"
    if form == "list":
        return f"[{', '.join(described(each) for each in operand)}]"
    return cut(as_text(operand))


def is_pattern(text: str) -> bool:
    """Whether the text is a regular expression of Python."""
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def patterns_of(expected: Any) -> Iterable[str]:
    """The regular expressions in an expected value, or in a list or mapping of them."""
    if isinstance(expected, Mapping):
        if isinstance(expected.get("regex"), str):
            yield expected["regex"]
        for each in expected.values():
            yield from patterns_of(each)
    elif isinstance(expected, list):
        for each in expected:
            yield from patterns_of(each)
