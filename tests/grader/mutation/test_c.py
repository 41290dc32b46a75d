"""Mutations of C: what each operator makes of a small function."""

from __future__ import annotations

import pytest

from grader.mutation import c
from grader.mutation.changes import Region, mutants

SOURCE = b"""\
void scale(float* out, const float* in, float* weight, int B, int C) {
    // BEGIN
    float gain = in[0] * 0.5f;
    for (int b = 0; b < B; b++) {
        out[b] += gain * in[b] - weight[b];
        if (weight) { clip(out, B, C); }
        out[b] = b == C ? 1.0f : -gain;
    }
    // END
}
"""
REGION = Region("scale.c", "scale", SOURCE.index(b"// BEGIN\n"), SOURCE.index(b"    // END"))


def made(kind: str) -> set[str]:
    """What the operator makes of the lines that it changes."""
    found = mutants(SOURCE, REGION, c.changes(SOURCE, REGION))
    return {mutant.after for mutant in found if mutant.change.kind == kind}


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("arithmetic", "out[b] += gain / in[b] - weight[b];"),
        ("arithmetic", "out[b] += gain * in[b] + weight[b];"),
        ("operand", "out[b] += gain - weight[b];"),
        ("operand", "out[b] += gain * in[b];"),
        ("comparison", "for (int b = 0; b <= B; b++) {"),
        ("comparison", "out[b] = b != C ? 1.0f : -gain;"),
        ("bound", "for (int b = 0; b < B - 1; b++) {"),
        ("step", "for (int b = 0; b < B; b--) {"),
        ("step", "for (int b = 0; b < B; b += 2) {"),
        ("constant", "for (int b = 1; b < B; b++) {"),
        ("constant", "float gain = in[0] * 1.5f;"),
        ("constant", "float gain = in[0] * 0.25f;"),
        ("assignment", "out[b] = gain * in[b] - weight[b];"),
        ("assignment", "out[b] -= gain * in[b] - weight[b];"),
        ("sign", "float gain = -(in[0] * 0.5f);"),
        ("sign", "out[b] = b == C ? 1.0f : gain;"),
        ("index", "out[b] += gain * in[b + 1] - weight[b];"),
        ("index", "out[b] += gain * in[b] - weight[b - 1];"),
        ("arguments", "if (weight) { clip(out, C, B); }"),
        ("deletion", "if (weight) { ; }"),
        ("condition", "if (!(weight)) { clip(out, B, C); }"),
        ("condition", "out[b] = b == C ? -gain : 1.0f;"),
        ("name", "for (int b = 0; b < C; b++) {"),
        ("name", "out[b] += gain * weight[b] - weight[b];"),
    ],
)
def test_an_operator(kind: str, after: str) -> None:
    assert after in made(kind)


def test_a_variable_is_taken_for_one_of_its_own_type_that_is_known_there() -> None:
    names = made("name")
    assert "float gain = out[0] * 0.5f;" not in names, "the next one is tried, not all"
    assert not any("gain[" in text for text in names), "a number is no pointer"
    assert not any(text.startswith("float gain = ") and "b" in text for text in names), "b is not known yet"


def test_a_loop_steps_its_own_variable() -> None:
    assert not any("B++" in text or "C++" in text for text in made("name"))


def test_what_is_declared_keeps_its_name() -> None:
    assert not any(text.startswith("float ") and not text.startswith("float gain") for text in made("name"))


def test_only_the_region_changes() -> None:
    found = list(mutants(SOURCE, REGION, c.changes(SOURCE, REGION)))
    begin, end = SOURCE[: REGION.start], SOURCE[REGION.end :]
    assert all(m.source.startswith(begin) and m.source.endswith(end) and m.source != SOURCE for m in found)
    assert len({m.source for m in found}) == len(found)
    assert len({m.id for m in found}) == len(found)


def test_fields_of_one_struct_are_taken_for_one_another() -> None:
    source = b"void f(Model *m) { m->grads = m->acts; m->params = m->grads; }\n"
    region = Region("f.c", "f", source.index(b"{") + 1, source.index(b"}"))
    after = {m.after for m in mutants(source, region, c.changes(source, region)) if m.change.kind == "field"}
    assert after == {
        "void f(Model *m) { m->acts = m->acts; m->params = m->grads; }",
        "void f(Model *m) { m->grads = m->params; m->params = m->grads; }",
        "void f(Model *m) { m->grads = m->acts; m->grads = m->grads; }",
        "void f(Model *m) { m->grads = m->acts; m->params = m->acts; }",
    }


def test_the_functions_of_a_file() -> None:
    assert c.functions(b"int a;\nvoid f(void) { }\nstatic int* g(int x) { return 0; }\n") == [
        ("f", (7, 23)),
        ("g", (24, 58)),
    ]
