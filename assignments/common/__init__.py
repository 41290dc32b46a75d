"""What drivers share; the sandbox's side."""
