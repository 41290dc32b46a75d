"""Which submissions are alike beyond what the template gives: a hint for a human, never a score."""
