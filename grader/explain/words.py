"""Plain words for lists and numbers."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 6) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many, the first and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def numeral(number: int) -> str:
    """A small number as a word."""
    return {2: "two", 3: "three", 4: "four", 8: "eight", 16: "sixteen"}.get(number, str(number))
