"""A2: the GPT-2 backward pass and AdamW in C."""
