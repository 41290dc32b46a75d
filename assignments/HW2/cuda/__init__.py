"""What runs of CUDA in the sandbox: the compiler, the kernels on a GPU, an epoch's time on each backend."""
