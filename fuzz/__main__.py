"""``python -m fuzz TARGET [--seconds N] [--corpus DIR]``: runs a target under atheris, and stops at what it finds."""

from __future__ import annotations

import argparse
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import atheris

LONGEST_S = 30  # one input that takes longer is a finding
MEMORY_MB = 4096

with atheris.instrument_imports(include=["fuzz", "grader", "safetensors", "zipfile", "tarfile", "yaml", "json"]):
    from fuzz.targets import TARGETS


def main() -> None:
    """Fills the corpus with the target's seeds and hands over to atheris, which does not come back."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, help="kept between runs; default: a temporary folder")
    asked = parser.parse_args()
    target = TARGETS[asked.target]
    corpus = asked.corpus or Path(tempfile.mkdtemp(prefix="corpus-"))
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (corpus / sha256(seed).hexdigest()[:16]).write_bytes(seed)
    bounds = [f"-max_total_time={asked.seconds}", f"-timeout={LONGEST_S}", f"-rss_limit_mb={MEMORY_MB}"]
    atheris.Setup([sys.argv[0], *bounds, "-max_len=65536", f"-artifact_prefix={corpus}-", str(corpus)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
