"""``./grade data import|fetch <ID> …``: real data to train on, in place of the embedded corpus."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import assignment as assignments
from grader import training
from grader.errors import EXIT_GRADED
from grader.parsing import Parser


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="grade data", description="The data that training runs use.")
    commands = parser.add_subparsers(dest="command", required=True)
    take = commands.add_parser("import", help="take SST-2 and GloVe from files; from then on they are the default")
    take.add_argument("assignment", help="e.g. HW2")
    take.add_argument("--sst2", type=Path, required=True, metavar="DIR", help="holds train.tsv and validation.tsv")
    take.add_argument(
        "--glove", type=Path, required=True, metavar="FILE", help="GloVe's text format, 50 numbers a word"
    )
    fetch = commands.add_parser("fetch", help="download both, and take them")
    fetch.add_argument("assignment", help="e.g. HW2")
    forget = commands.add_parser("forget", help="go back to the embedded corpus")
    forget.add_argument("assignment", help="e.g. HW2")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Imports, or forgets; returns the exit code."""
    asked = _parser().parse_args(arguments)
    assignments.load(asked.assignment)
    folder = training.data_folder(asked.assignment)
    if asked.command == "forget":
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{asked.assignment} trains on its embedded corpus", file=sys.stderr)
        return EXIT_GRADED
    module = training.data_module(asked.assignment)
    if asked.command == "fetch":
        counts = module.fetch(folder, lambda text: print(text, file=sys.stderr, flush=True))
    else:
        counts = module.take(asked.sst2, asked.glove, folder)
    print(f"imported into {folder}: {counts}", file=sys.stderr)
    return EXIT_GRADED
