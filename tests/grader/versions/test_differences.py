"""What makes two results differ, and how it is told."""

from __future__ import annotations

from grader.versions.differences import change
from grader.versions.report import lines
from tests.grader.builders import check_result, evidence, result, row_result


def test_nothing_differs() -> None:
    found = change("s", result(row_result("fail")), result(row_result("fail")))
    assert (found.rows, found.changed) == ([], False)


def test_a_tensor_that_passes_under_one_limit_alone() -> None:
    a = check_result("fail", evidence=[evidence(False, error=2e-3), evidence(tensor="other")])
    b = check_result("pass", evidence=[evidence(True, error=2e-3, limit=1e-2), evidence(tensor="other")])
    found = change("s", result(row_result("fail", checks=[a])), result(row_result(checks=[b])))
    (row,) = found.rows
    (reason,) = row.reasons
    assert found.changed
    assert (reason.check, reason.tensor) == ("probe", "dinp")
    assert list(lines(found)) == [
        "\ns: 0 in A, 10 in B",
        "  First: 0 (fail) in A, 10 (pass) in B",
        "    probe, dinp: A fails: error 2.00e-03, limit 1.00e-04 (case probe/small);"
        " B passes: error 2.00e-03, limit 1.00e-02 (case probe/small)",
    ]


def test_what_is_not_finite_or_a_share_is_told_as_such() -> None:
    a = check_result("fail", evidence=[evidence(False, error=None, reason="not finite")])
    b = check_result("pass", evidence=[evidence(error=0.5, limit=1.0, of_allowed=True)])
    found = change("s", result(row_result("fail", checks=[a])), result(row_result(checks=[b])))
    told = list(lines(found))[-1]
    assert "A fails: not finite (case probe/small)" in told
    assert "B passes: error 5.00e-01 of what is allowed, limit 1.00e+00" in told


def test_other_points_for_a_row() -> None:
    found = change("s", result(row_result()), result(row_result(points=15, max_points=15)))
    (reason,) = found.rows[0].reasons
    assert reason.text == "A: worth 10; B: worth 15"


def test_a_row_and_a_check_that_one_version_has_alone() -> None:
    more = row_result(checks=[check_result(), check_result("crashed", id="second", detail="it crashed")], points=0)
    found = change("s", result(row_result()), result(more, row_result(id="new", title="New")))
    assert found.rows[0].reasons[0].text == "A: the row does not rest on it; B: crashed"
    assert (found.rows[1].points_a, found.rows[1].points_b) == (None, 10)
    assert list(lines(found))[3] == "  New: no such row in A, 10 (pass) in B"
    assert found.rows[1].reasons[0].text == "A: there is no such row; B: as before"


def test_a_verdict_without_tensors_is_told_in_the_checks_words() -> None:
    a = check_result("timed_out", evidence=[], detail="it did not end in time")
    b = check_result("pass", evidence=[])
    found = change("s", result(row_result("timed_out", checks=[a])), result(row_result(checks=[b])))
    assert found.rows[0].reasons[0].text == "A: it did not end in time; B: pass"
