"""Tensorgrade: an autograder for deep-learning-systems assignments."""

__version__ = "0.2.0"
