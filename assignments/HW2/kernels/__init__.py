"""CUDA kernels without a GPU: what rewrites, builds and calls a student's ``combine.cu`` inside the sandbox."""
