"""How much is recorded of a training loop, said once for both sides."""

from __future__ import annotations

MOST_STEPS = 400
