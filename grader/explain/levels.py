"""How much an explanation tells."""

from __future__ import annotations

from typing import Literal, get_args

Level = Literal["none", "where", "hint", "full"]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT: Level = "hint"
