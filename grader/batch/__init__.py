"""Grading a class: what was handed in is found, graded once, kept in a ledger, and told in gradebooks and pages.

The order: `names` and `find` (whose is what), `work` (one submission, in a process of its own), `local` (a pool of
such processes), `run` (the coordinator, the only one that writes the `ledger`), `late` (days and penalties),
`gradebook` (what is exported).
"""
