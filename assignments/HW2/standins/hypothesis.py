"""Stands in for ``hypothesis``, which some editors import by themselves: it can be imported, and is not used."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Any name is there, and does nothing."""
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *args, **kwargs: lambda function: function
