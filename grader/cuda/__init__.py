"""A submission's CUDA kernels beside the rows: nvcc, a GPU where there is one, and an epoch's time on each backend."""
