"""Tests of HW2: variants of the reference through the real command, and the parts of its probes."""
