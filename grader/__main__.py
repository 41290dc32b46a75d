"""``python -m grader``: what the launcher runs."""

import sys

from grader.cli import main

sys.exit(main())
