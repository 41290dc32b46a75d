"""Submissions that try to have what they did not earn, to harm, or to see; run through the real command."""
