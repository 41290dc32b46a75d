"""``./grade template [ID] [--check]``: cuts the student template from the reference."""

from __future__ import annotations

from grader import assignment as assignments
from grader import template
from grader.errors import EXIT_BELOW_MINIMUM, EXIT_GRADED
from grader.parsing import Parser


def run(arguments: list[str]) -> int:
    """Writes the stale templates; with ``--check``, names them and returns 1."""
    parser = Parser(prog="grade template", description="Cut the student templates from the references.")
    parser.add_argument("assignment", nargs="*", default=assignments.known_ids())
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if one is stale")
    options = parser.parse_args(arguments)
    found = []
    for name in options.assignment:
        assignment = assignments.load(name)
        found += template.stale(assignment) if options.check else template.write(assignment)
    for path in found:
        print(f"{'stale' if options.check else 'wrote'}: {path}")
    return EXIT_BELOW_MINIMUM if options.check and found else EXIT_GRADED
