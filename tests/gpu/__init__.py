"""CUDA kernels on a GPU; skipped, with the reason, on machines that have none."""
