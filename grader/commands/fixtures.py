"""``./grade fixtures build|verify|state``: making and checking what grading compares with."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader import assignment as assignments
from grader import fixture_build, fixtures
from grader.errors import EXIT_GRADED, InfrastructureError
from grader.parsing import Parser


def parser() -> argparse.ArgumentParser:
    """The parser of ``./grade fixtures``."""
    top = Parser(prog="grade fixtures", description="Make and check fixture sets (needs torch).")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    build = commands.add_parser("build", help="make a set from the reference")
    verify = commands.add_parser("verify", help="check a set's hashes, recompute and compare it")
    for command in (build, verify):
        command.add_argument("assignment")
        command.add_argument("--set", default=fixtures.PUBLIC, dest="name", help="name of the set (public)")
        command.add_argument("--seed-file", type=Path, help="a secret of at least 16 bytes, for a private set")
        command.add_argument("--out", type=Path, help="folder of the set")
    state = commands.add_parser("state", help="A2: a checkpoint and debug state with random weights")
    state.add_argument("assignment")
    state.add_argument("--size", choices=("tiny", "124M"), default="tiny")
    state.add_argument("--out", type=Path, required=True, help="folder to write them to")
    return top


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(arguments: list[str]) -> int:
    """Runs the command."""
    options = parser().parse_args(arguments)
    assignment = assignments.load(options.assignment)
    if options.command == "build":
        folder = fixture_build.build(assignment.id, options.name, options.seed_file, options.out, _say)
        print(f"built {folder}")
        return EXIT_GRADED
    if options.command == "state":
        from grader.official import make_state

        for path in make_state(assignment, options.size, options.out, _say):
            print(f"wrote {path}")
        return EXIT_GRADED
    folder = options.out or fixtures.set_folder(assignment.id, options.name)
    problems = fixture_build.verify(assignment.id, folder, options.seed_file)
    if problems:
        raise InfrastructureError(f"{folder} is not what the reference gives:\n" + "\n".join(problems))
    print(f"{folder}: every hash and every tensor is as the reference gives it")
    return EXIT_GRADED
