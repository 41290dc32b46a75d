"""Where the tests run: the same with a terminal, and in the background of a script."""

from __future__ import annotations

import signal

import reference  # noqa: F401 - before any test imports torch: how that computes

# A shell without job control starts what runs in its background with SIGINT ignored, and so would be all that the
# tests start. Those that press Ctrl-C would then wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
