"""Late days: a budget of free ones for the semester, then a share of the score a day. All of it is data.

Times without a zone are local times of the course's zone. A late day ends at the due time of day on the local clock,
whatever daylight saving does to its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, field_validator, model_validator

from grader.data import Strict, load_yaml
from grader.errors import InfrastructureError, UsageError

CENT = Decimal("0.01")
# What is beyond these is a slip, and more than arithmetic on dates can do.
YEARS = range(1971, 2200)
MOST_DAYS = 36_500
MOST_MINUTES = 527_040  # a year


def _in_range(value: datetime) -> datetime:
    if value.year not in YEARS:
        raise ValueError(f"the year is to be from {YEARS[0]} to {YEARS[-1]}")
    return value


Due = Annotated[datetime, AfterValidator(_in_range)]


class Extension(Strict):
    """One student's own due time for an assignment, or days that count for nobody."""

    student: str = Field(description="the student's key in the ledger, login, or number")
    assignment: str
    due: Due | None = Field(default=None, description="a due time of its own")
    days: int = Field(default=0, ge=0, le=MOST_DAYS, description="so many days later than the others'")
    why: str = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Extension:
        if (self.due is None) == (self.days == 0):
            raise ValueError("an extension has either `due` or `days`")
        return self


class Excused(Strict):
    """A student to whom an assignment does not count."""

    student: str
    assignment: str
    why: str = ""


class Policy(Strict):
    """The course's rules on late submissions."""

    timezone: str = Field(description="an IANA name, e.g. America/New_York")
    due: dict[str, Due] = Field(description="assignment → due time; without a zone it is local")
    free_days: int = Field(ge=0, le=MOST_DAYS, description="penalty-free days of a student, over all assignments")
    percent_per_day: Decimal = Field(ge=0, le=100, description="of the score, for each day beyond the free ones")
    grace_minutes: int = Field(0, ge=0, le=MOST_MINUTES, description="so late is not late")
    most_free_days: int | None = Field(
        None, ge=0, le=MOST_DAYS, description="of the free days, at most so many for one assignment"
    )
    most_days: int | None = Field(
        None, ge=0, le=MOST_DAYS, description="later than so many days a submission has no points"
    )
    extensions: list[Extension] = Field([])
    excused: list[Excused] = Field([])

    @field_validator("percent_per_day", mode="before")
    @classmethod
    def _exact(cls, value: object) -> object:
        return Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"there is no time zone {value!r}; IANA names are e.g. America/New_York") from error
        return value

    @property
    def zone(self) -> ZoneInfo:
        """The course's time zone."""
        return ZoneInfo(self.timezone)

    def local(self, moment: datetime) -> datetime:
        """A moment on the course's clock."""
        return moment.astimezone(self.zone) if moment.tzinfo else moment.replace(tzinfo=self.zone)


@dataclass(frozen=True)
class Submitted:
    """What counts of a student's for an assignment.

    Attributes:
        assignment: its id.
        at: when it came; None: not known.
        late_mark: the course site says that it is late.
    """

    assignment: str
    at: datetime | None
    late_mark: bool = False


@dataclass(frozen=True)
class Lateness:
    """What the policy makes of it.

    Attributes:
        days: late days, started ones whole.
        free: of these, taken from the student's free ones.
        percent: of the score that is taken off.
        excused: the assignment does not count for this student.
        note: what is to be known, e.g. that the time is missing.
    """

    days: int = 0
    free: int = 0
    percent: Decimal = Decimal(0)
    excused: bool = False
    note: str = ""

    def after(self, score: int | Decimal) -> Decimal:
        """The score that is left, to two decimals."""
        left = Decimal(score) * (100 - self.percent) / 100
        return left.quantize(CENT, ROUND_HALF_UP)


def load(path: Path) -> Policy:
    """Reads a policy.

    Raises:
        UsageError: it is not there, is not YAML, or does not fit the model.
    """
    if not path.is_file():
        raise UsageError(f"--late: there is no file {path}")
    try:
        return load_yaml(path, Policy)
    except InfrastructureError as error:  # the file is the user's, and none of ours
        raise UsageError(str(error)) from error


def days_late(policy: Policy, due: datetime, at: datetime) -> int:
    """Late days from the due time to ``at``; a day that has begun is a whole one."""
    local_due, local_at = policy.local(due), policy.local(at)
    grace = timedelta(minutes=policy.grace_minutes)
    days = max(0, (local_at.date() - local_due.date()).days - 1)
    while (_plus_days(local_due, days) + grace).timestamp() < local_at.timestamp():
        days += 1
    return days


def _plus_days(local: datetime, days: int) -> datetime:
    """The same time of day so many days later: arithmetic on one zone's clock leaves the hands where they are."""
    return local + timedelta(days=days)


def judge(policy: Policy, handles: Iterable[str], submitted: Sequence[Submitted]) -> Mapping[str, Lateness]:
    """What the policy makes of one student's submissions; ``handles``: all that the student is known by.

    Free days go to the assignments in the order in which they are due.
    """
    known = {handle.casefold() for handle in handles if handle}
    left = policy.free_days
    found: dict[str, Lateness] = {}
    order = sorted(submitted, key=lambda one: (_due(policy, known, one.assignment) or _never(policy), one.assignment))
    for one in order:
        if any(e.student.casefold() in known and e.assignment == one.assignment for e in policy.excused):
            found[one.assignment] = Lateness(excused=True)
            continue
        found[one.assignment] = _one(policy, one, _due(policy, known, one.assignment), left)
        left -= found[one.assignment].free
    return found


def _never(policy: Policy) -> datetime:
    return datetime.max.replace(tzinfo=policy.zone) - timedelta(days=2)


def _due(policy: Policy, known: set[str], assignment: str) -> datetime | None:
    due = policy.due.get(assignment)
    if due is None:
        return None
    local = policy.local(due)
    for extension in policy.extensions:
        if extension.student.casefold() in known and extension.assignment == assignment:
            own = policy.local(extension.due) if extension.due else _plus_days(local, extension.days)
            local = max(local, own, key=datetime.timestamp)
    return local


def _one(policy: Policy, one: Submitted, due: datetime | None, left: int) -> Lateness:
    if due is None:
        return Lateness(note=f"the late policy has no due time for {one.assignment}")
    if one.at is None:
        marked = "the course site marks it as late" if one.late_mark else ""
        return Lateness(note=f"{marked}, but says not when: give --times" if marked else "")
    days = days_late(policy, due, one.at)
    most = left if policy.most_free_days is None else min(left, policy.most_free_days)
    free = min(days, most)
    if policy.most_days is not None and days > policy.most_days:
        return Lateness(days, 0, Decimal(100), note=f"later than {policy.most_days} days")
    return Lateness(days, free, min(Decimal(100), policy.percent_per_day * (days - free)))
