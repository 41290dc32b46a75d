"""``python -m grader``: what the launcher runs."""

import os
import sys

try:
    from grader.cli import main
except ModuleNotFoundError as error:  # e.g. the system's Python has become another one
    print(
        f"grade: infrastructure error, nothing was scored: {error}; the environment"
        f" {os.environ.get('GRADE_HOME', sys.prefix)} is not whole: remove it, and ./grade makes it anew",
        file=sys.stderr,
    )
    sys.exit(3)

sys.exit(main())
