"""The solved assignments, each with its cases and its oracle."""
