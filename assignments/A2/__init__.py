"""Assignment A2: GPT-2's backward pass and AdamW in C."""
