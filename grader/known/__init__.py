"""Submissions whose rightness is known: mistakes and right variants, each a small change to the reference.

``reference/<ID>/mistakes.yaml`` and ``variants.yaml`` hold them. The tests grade every one, and calibration measures
the tolerances by them.
"""
