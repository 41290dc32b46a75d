"""The expressions of GitHub Actions (``${{ … }}``), as far as our files use them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

TOKEN = re.compile(r"\s*(?:'((?:[^']|'')*)'|(\d+)|(==|!=|<=|>=|\|\||&&|[!(),])|([A-Za-z_][\w.-]*))")
Context = Mapping[str, Any]


def fill(text: str, context: Context) -> str:
    """The text with its expressions in their values."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: shown(evaluate(match[1], context)), text)


def shown(value: Any) -> str:
    """A value as it stands in a text."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def evaluate(text: str, context: Context) -> Any:
    """The value of an expression."""
    parser = _Parser(text, context)
    value = parser.either()
    assert parser.at == len(parser.tokens), f"{text}: what stands behind {parser.at} tokens is not read"
    return value


def _number(value: Any) -> float:
    """What a comparison of unlike things makes of one of them."""
    try:
        return float(value or 0)
    except ValueError:
        return float("nan")


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return _number(left) == _number(right)


class _Parser:
    def __init__(self, text: str, context: Context) -> None:
        self.tokens = list(TOKEN.finditer(text))
        assert "".join(match[0] for match in self.tokens) == text.rstrip(), f"not understood: {text}"
        self.context = context
        self.at = 0

    def taken(self, *signs: str) -> str | None:
        """The next token if it is one of these signs."""
        if self.at < len(self.tokens) and self.tokens[self.at][3] in signs:
            self.at += 1
            return self.tokens[self.at - 1][3]
        return None

    def either(self) -> Any:
        value = self.both()
        while self.taken("||"):
            other = self.both()
            value = value or other
        return value

    def both(self) -> Any:
        value = self.compared()
        while self.taken("&&"):
            other = self.compared()
            value = value and other
        return value

    def compared(self) -> Any:
        value = self.single()
        if sign := self.taken("==", "!=", "<=", ">="):
            other = self.single()
            if sign in ("==", "!="):
                return _same(value, other) == (sign == "==")
            left, right = _number(value), _number(other)
            return left <= right if sign == "<=" else left >= right
        return value

    def single(self) -> Any:
        if self.taken("!"):
            return not self.single()
        if self.taken("("):
            value = self.either()
            assert self.taken(")")
            return value
        match = self.tokens[self.at]
        self.at += 1
        if match[1] is not None:
            return match[1].replace("''", "'")
        if match[2] is not None:
            return int(match[2])
        return self.called(match[4]) if self.taken("(") else self.looked_up(match[4])

    def called(self, name: str) -> Any:
        arguments = []
        while not self.taken(")"):
            arguments.append(self.either())
            self.taken(",")
        functions: dict[str, Callable[..., Any]] = {
            "startsWith": lambda text, start: str(text).lower().startswith(str(start).lower()),
            "always": lambda: True,
            "success": lambda: self.context["success"],
        }
        return functions[name](*arguments)

    def looked_up(self, name: str) -> Any:
        value: Any = self.context
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value
