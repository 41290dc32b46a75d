"""The sanitizers: what they are run on, what they print, and what is told of it."""

from grader.sanitize.look import Watch

__all__ = ["Watch"]
