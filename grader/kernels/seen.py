"""What the execution model tells of a case, a record for each thing that is wrong; read as the sandbox's words."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from grader.report.texts import visible

MOST_SEEN = 64  # of one case
LARGEST = 1 << 62

Word = Annotated[str, AfterValidator(lambda text: visible(text[:300]).replace("\n", " "))]
Count = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Line = Annotated[int, Field(gt=0, lt=1 << 24)]


class Seen(BaseModel):
    """One of them; see ``model.h`` for what the keys say."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    kind: Word
    call: Count = 0
    function: Word = ""
    access: Word = ""
    space: Word = ""
    name: Word = ""
    text: Word = ""
    offset: Count = 0
    size: Count = 0
    bytes: Count = 0
    count: Count = 0
    line: Line | None = None
    who: list[Count] = Field(default=[], max_length=6)
    kernel: Word = ""
    launch_line: Line | None = None
    other_access: Word = ""
    other_line: Line | None = None
    other: list[Count] = Field(default=[], max_length=6)


def read(status: dict[str, Any]) -> list[Seen]:
    """What a case's status holds of them; what is not such a record is passed over."""
    entries = status.get("findings")
    found: list[Seen] = []
    for entry in entries[:MOST_SEEN] if isinstance(entries, list) else []:
        try:
            found.append(Seen.model_validate(entry))
        except ValidationError:
            continue
    return found
