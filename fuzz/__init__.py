"""Fuzzing what reads bytes from outside; ``python -m fuzz TARGET`` (README: needs atheris, grading does not)."""
