"""Text from the student's side, made fit to be shown: every control character is visible, and does nothing."""

from __future__ import annotations

import re

# What a CI service takes for a command to itself: ::error::, ##[error], ##vso[task.…], ##teamcity[…]
_CI_COMMAND = re.compile(r"(?<!\S)::|##(?=\w*\[)")
LONGEST = 4_000  # characters of one text in a report
CUT = "\n… (cut here)"


def visible(text: str) -> str:
    """The text with what cannot be printed (control characters, changes of direction, lone surrogates) written out."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """The text for a terminal or a CI's log: visible, and nothing in it is a command to the CI."""
    return visible(_CI_COMMAND.sub(lambda match: match[0][0] + " " + match[0][1:], text))


def bounded(text: str, longest: int = LONGEST) -> str:
    """The text, cut where it is very long."""
    return text if len(text) <= longest else text[:longest] + CUT
