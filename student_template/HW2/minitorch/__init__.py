# ruff: noqa: F403
"""MiniTorch: a small deep-learning framework to learn from.

The layers, from the numbers upwards::

    operators         functions of one or two floats
    tensor_data       storage, shape, strides
    tensor_ops        a backend: map, zip, reduce, matrix product (SimpleOps: plain loops)
    numpy_ops         the same, vectorised on the CPU
    cuda_kernel_ops   the same, by the kernels of src/combine.cu
    tensor_functions  the differentiable functions, forward and backward
    tensor            Tensor, a variable of the computation graph
    autodiff          backpropagation through that graph (yours to write)
    module, nn, optim parameters, layers, optimisers
"""

from .autodiff import *
from .backends import *
from .cuda_kernel_ops import CudaKernelOps as CudaKernelOps
from .datasets import datasets as datasets
from .module import *
from .nn import *
from .numpy_ops import NumpyOps as NumpyOps
from .operators import prod as prod
from .optim import *
from .tensor import *
from .tensor_data import *
from .tensor_functions import *
from .tensor_ops import *
from .testing import *

version = "0.4"
