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

from . import operators
from .autodiff import *  # noqa: F403
from .backends import backend_name, cuda_problem
from .cuda_kernel_ops import CudaKernelOps
from .datasets import datasets
from .module import Module, Parameter
from .nn import (
    Max,
    argmax,
    avgpool2d,
    dropout,
    layer_norm,
    logsoftmax,
    max,
    max_reduce,
    maxpool2d,
    softmax,
    tile,
)
from .numpy_ops import NumpyOps
from .operators import prod
from .optim import SGD, Adam, Optimizer
from .tensor import Tensor
from .tensor_data import (
    MAX_DIMS,
    IndexingError,
    Shape,
    Storage,
    Strides,
    TensorData,
    UserIndex,
    UserShape,
    UserStrides,
    broadcast_index,
    index_to_position,
    shape_broadcast,
    strides_from_shape,
    to_index,
)
from .tensor_functions import (
    EQ,
    LT,
    Add,
    All,
    Copy,
    Exp,
    Function,
    History,
    Inv,
    IsClose,
    Log,
    MatMul,
    Mul,
    Neg,
    Permute,
    PowerScalar,
    ReLU,
    Sigmoid,
    Sum,
    Tanh,
    View,
    grad_central_difference,
    grad_check,
    ones,
    ones_tensor_from_numpy,
    rand,
    tensor,
    tensor_from_numpy,
    zeros,
    zeros_tensor_from_numpy,
)
from .tensor_ops import (
    MapProto,
    SimpleBackend,
    SimpleOps,
    TensorBackend,
    TensorOps,
    tensor_map,
    tensor_reduce,
    tensor_zip,
)
from .testing import MathTest, MathTestVariable, assert_close

version = "0.4"
