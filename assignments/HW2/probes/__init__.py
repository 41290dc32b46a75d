"""What runs in the sandbox: the student's code is loaded, called and watched. Standard library and NumPy alone."""
