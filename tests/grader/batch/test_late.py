"""Late days: counted on the course's clock, free ones first, then a share of the score a day."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from grader.batch.late import Excused, Extension, Lateness, Policy, Submitted, days_late, judge, load
from grader.errors import UsageError

DUE = {"A2": datetime(2026, 10, 1, 23, 59), "HW2": datetime(2026, 11, 2, 23, 59)}


def policy(**changes: object) -> Policy:
    settings = {"timezone": "America/New_York", "due": DUE, "free_days": 3, "percent_per_day": 20, **changes}
    return Policy.model_validate(settings)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("2026-10-01T23:59:00-04:00", 0),
        ("2026-10-01T23:59:01-04:00", 1),
        ("2026-10-02T03:59:00+00:00", 0),  # the same moment as the due time
        ("2026-10-02T23:59:00-04:00", 1),
        ("2026-10-02T23:59:01-04:00", 2),
        ("2026-09-01T00:00:00-04:00", 0),
        ("2026-10-31T23:59:00-04:00", 30),
    ],
)
def test_a_day_that_has_begun_is_a_whole_one(moment: str, days: int) -> None:
    assert days_late(policy(), DUE["A2"], at(moment)) == days


def test_a_late_day_ends_at_the_due_time_of_day_whatever_daylight_saving_does() -> None:
    """In the night to 1 November 2026 New York puts its clocks back: that late day has 25 hours."""
    due = datetime(2026, 10, 31, 23, 59)
    assert days_late(policy(), due, at("2026-11-01T23:59:00-05:00")) == 1
    assert days_late(policy(), due, at("2026-11-01T23:59:01-05:00")) == 2
    spring = datetime(2026, 3, 7, 23, 59)  # 8 March has 23 hours
    assert days_late(policy(), spring, at("2026-03-08T23:59:00-04:00")) == 1
    assert days_late(policy(), spring, at("2026-03-08T23:59:01-04:00")) == 2


def test_free_days_are_of_the_semester_in_the_order_of_the_due_times() -> None:
    found = judge(
        policy(),
        ["s"],
        [
            Submitted("HW2", at("2026-11-04T12:00:00-05:00")),  # two days
            Submitted("A2", at("2026-10-03T12:00:00-04:00")),  # two days
        ],
    )
    assert found["A2"] == Lateness(days=2, free=2)
    assert found["HW2"] == Lateness(days=2, free=1, percent=Decimal(20))
    assert found["HW2"].after(95) == Decimal("76.00")


def test_nothing_is_taken_below_zero() -> None:
    found = judge(policy(free_days=0), ["s"], [Submitted("A2", at("2026-10-20T00:00:00-04:00"))])
    assert found["A2"].percent == 100
    assert found["A2"].after(100) == 0


def test_caps() -> None:
    one = [Submitted("A2", at("2026-10-04T12:00:00-04:00"))]  # three days
    assert judge(policy(most_free_days=1), ["s"], one)["A2"] == Lateness(days=3, free=1, percent=Decimal(40))
    assert judge(policy(most_days=2), ["s"], one)["A2"].percent == 100
    assert judge(policy(grace_minutes=60 * 12 + 2), ["s"], one)["A2"].days == 3 - 1


def test_extensions_and_excuses_are_of_one_student_by_any_name() -> None:
    late = [Submitted("A2", at("2026-10-04T12:00:00-04:00"))]
    own = policy(extensions=[Extension(student="Ann@x", assignment="A2", days=2, why="ill")])
    assert judge(own, ["7", "ann@X"], late)["A2"].days == 1
    assert judge(own, ["8", "bob"], late)["A2"].days == 3
    due = policy(extensions=[Extension(student="7", assignment="A2", due=datetime(2026, 10, 4, 12))])
    assert judge(due, ["7"], late)["A2"].days == 0
    free = policy(excused=[Excused(student="7", assignment="A2")])
    assert judge(free, ["7"], late)["A2"].excused


def test_what_is_not_known_is_said_and_costs_nothing() -> None:
    assert "says not when" in judge(policy(), ["s"], [Submitted("A2", None, late_mark=True)])["A2"].note
    assert judge(policy(), ["s"], [Submitted("A2", None)])["A2"] == Lateness()
    assert "no due time" in judge(policy(), ["s"], [Submitted("A9", at("2026-10-04T12:00:00-04:00"))])["A9"].note


def test_scores_are_rounded_half_up_to_two_decimals() -> None:
    assert Lateness(percent=Decimal("33.335")).after(1) == Decimal("0.67")


@pytest.mark.parametrize(
    "changes",
    [
        {"timezone": "Mars/Olympus"},
        {"timezone": "../etc/passwd"},
        {"percent_per_day": 101},
        {"free_days": -1},
        {"fre_days": 1},
        {"extensions": [{"student": "a", "assignment": "A2"}]},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        policy(**changes)


def test_a_policy_file(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(
        "timezone: America/New_York\nfree_days: 3\npercent_per_day: 20\n"
        "due: {A2: 2026-10-01T23:59:00}\nextensions: [{student: a, assignment: A2, days: 1}]\n"
    )
    found = load(path)
    assert found.local(found.due["A2"]).astimezone(UTC) == datetime(2026, 10, 2, 3, 59, tzinfo=UTC)
    with pytest.raises(UsageError, match="there is no file"):
        load(tmp_path / "none.yaml")
    path.write_text("timezone: America/New_York\nfree_days: many\n")
    with pytest.raises(UsageError, match=r"late.yaml:2: free_days"):
        load(path)


EXTENDED = "extensions: [{student: s, assignment: A2, "


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("due: {A2: 9999-12-31T23:59:00}", "due.A2: .*the year is to be from 1971 to 2199"),
        ("due: {A2: 0001-01-01T00:00:00+14:00}", "due.A2: .*the year"),
        ("due: {A2: 2026-13-01T00:00:00}", "is not YAML: month must be"),
        (f"grace_minutes: {10**18}", "grace_minutes: .*less than or equal to 527040"),
        (f"grace_minutes: {'9' * 5000}", "late.yaml"),
        (f"free_days: {10**30}", "free_days: .*less than or equal to 36500"),
        (f"most_free_days: {10**30}", "most_free_days: .*less than"),
        (f"most_days: {10**30}", "most_days: .*less than"),
        (f"{EXTENDED}days: 99999999999}}]", r"extensions.0.days: .*less than or equal to 36500"),
        (f"{EXTENDED}due: 9999-12-31T23:59:00}}]", "extensions.0.due: .*the year"),
        ("[" * 5000, "late.yaml"),
    ],
    ids=range(11),
)
def test_what_no_calendar_has_is_told_as_it_is_loaded(given: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    usual = ["timezone: America/New_York", "due: {A2: 2026-10-01T23:59:00}", "free_days: 3", "percent_per_day: 20"]
    path.write_text("\n".join([*(line for line in usual if line.split(":")[0] != given.split(":")[0]), given]))
    with pytest.raises(UsageError, match=said):
        load(path)


def test_the_latest_of_all_can_be_computed() -> None:
    own = Extension(student="s", assignment="A2", days=36_500)
    late = policy(due={"A2": datetime(2199, 12, 31, 23, 59)}, grace_minutes=527_040, extensions=[own])
    assert judge(late, ["s"], [Submitted("A2", at("2199-12-31T23:59:59+00:00"))])["A2"].days == 0
    assert days_late(policy(), DUE["A2"], at("2199-12-31T23:59:59+00:00")) > 60_000
