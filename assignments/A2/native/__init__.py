"""How A2's driver builds and calls C code; the sandbox's side."""
