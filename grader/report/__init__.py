"""Writers: each turns a result into one form, and knows nothing of how it came about."""
