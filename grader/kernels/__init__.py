"""CUDA kernels that students bring: calls with right answers, and what comes of them where there is no GPU."""
