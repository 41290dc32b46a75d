"""The solved assignments, each with its cases and its oracle."""

import os

# What an oracle computes is to be the same on every machine, so that a fixture set can be built again to the byte.
# PyTorch and MKL choose their kernels by the processor, and these sum in different orders; both read this when they
# are first imported.
os.environ["ATEN_CPU_CAPABILITY"] = "default"
os.environ["MKL_CBWR"] = "COMPATIBLE"
