"""Names of the files that a build leaves for the probes; apart, since a probe needs no more of the build."""

LIBRARY = "student.so"
OPERATORS = "operators.so"
