"""The assignments: data, and what runs in the sandbox."""
