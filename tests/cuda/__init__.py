"""CUDA kernels beside the rows, without a GPU: the real nvcc where it is installed, and stand-ins for the rest."""
