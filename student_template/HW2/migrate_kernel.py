"""Bring ``src/combine.cu`` over from the first homework and compile it.

python migrate_kernel.py --hw1-dir <hw1 folder> --hw2-dir <hw2 folder>
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

KERNELS = Path("src", "combine.cu")
LIBRARY = Path("minitorch", "cuda_kernels", "combine.so")


def migrate(hw1: Path, hw2: Path) -> Path:
    """Copy the kernels and compile them; the library's path.

    Raises:
        SystemExit: with a message, if a folder, the kernels or the compiler are not there, or it fails.
    """
    for folder in (hw1, hw2):
        if not folder.is_dir():
            sys.exit(f"{folder} is not a folder")
    if not (hw1 / KERNELS).is_file():
        sys.exit(f"{hw1 / KERNELS} does not exist")
    source, library = hw2 / KERNELS, hw2 / LIBRARY
    for path in (source, library):
        path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(hw1 / KERNELS, source)
    compile_kernels(source, library)
    return library


def compile_kernels(source: Path, library: Path) -> None:
    """Run nvcc.

    Raises:
        SystemExit: with a message, if there is no nvcc or it fails.
    """
    if shutil.which("nvcc") is None:
        sys.exit("there is no nvcc: install the CUDA toolkit, or load its module")
    command = ["nvcc", "-o", str(library), "--shared", str(source), "-Xcompiler", "-fPIC"]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"nvcc could not compile {source}")


def main() -> None:
    """Read the two folders from the command line."""
    parser = argparse.ArgumentParser(description="Copy the CUDA kernels of HW1 into HW2 and compile them")
    parser.add_argument("--hw1-dir", type=Path, required=True, help="the folder of the first homework")
    parser.add_argument("--hw2-dir", type=Path, required=True, help="the folder of this homework")
    options = parser.parse_args()
    print(f"compiled {migrate(options.hw1_dir, options.hw2_dir)}")


if __name__ == "__main__":
    main()
