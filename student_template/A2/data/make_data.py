"""Make the tiny files that ./test_gpt2 and ./train_gpt2 run on, with nothing but Python itself.

From text.txt: a tokenizer that knows the 256 bytes and <|endoftext|>, and two token files. The tiny
checkpoint and its debug state come with the assignment, compressed: PyTorch made them.
"""

from __future__ import annotations

import gzip
import shutil
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EOT = 256  # <|endoftext|>, the token after the 256 bytes
TRAIN_SHARE = 0.8  # of the tokens; what is left is for validation
DOCUMENT_END = "\n\n\n"  # two blank lines
COMPRESSED = ("tiny_gpt2.bin", "tiny_gpt2_debug_state.bin")


def header(magic: int, version: int, *rest: int) -> bytes:
    """Return the 256 little-endian int32 that every file of this family begins with."""
    numbers = [magic, version, *rest]
    return struct.pack("<256i", *numbers, *[0] * (256 - len(numbers)))


def tokenizer_file() -> bytes:
    """Return the tokenizer: for each token one byte with its length, then its bytes."""
    tokens = [bytes([i]) for i in range(256)] + [b"<|endoftext|>"]
    body = b"".join(bytes([len(token)]) + token for token in tokens)
    return header(20240328, 2, len(tokens), EOT) + body


def token_file(tokens: list[int]) -> bytes:
    """Return a token file: the header with their number, then each token as uint16."""
    return header(20240520, 1, len(tokens)) + struct.pack(f"<{len(tokens)}H", *tokens)


def tokenize(text: str) -> list[int]:
    """Turn the documents of a text into bytes, each document after an <|endoftext|>."""
    tokens: list[int] = []
    for document in text.split(DOCUMENT_END):
        tokens += [EOT, *document.strip().encode(), ord("\n")]
    return tokens


def main() -> int:
    """Write all files beside this script; return 1 if a compressed one is missing."""
    tokens = tokenize((HERE / "text.txt").read_text(encoding="utf-8"))
    cut = int(len(tokens) * TRAIN_SHARE)
    made = {
        "tiny_tokenizer.bin": tokenizer_file(),
        "tiny_train.bin": token_file(tokens[:cut]),
        "tiny_val.bin": token_file(tokens[cut:]),
    }
    for name, content in made.items():
        (HERE / name).write_bytes(content)
        print(f"wrote data/{name}")
    missing = 0
    for name in COMPRESSED:
        packed = HERE / f"{name}.gz"
        if packed.exists():
            with gzip.open(packed, "rb") as source, (HERE / name).open("wb") as target:
                shutil.copyfileobj(source, target)
            print(f"wrote data/{name}")
        elif not (HERE / name).exists():
            print(f"missing: data/{packed.name}, a file of the assignment", file=sys.stderr)
            missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
