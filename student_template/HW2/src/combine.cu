// The CUDA kernels behind minitorch's CudaKernelOps: map, zip, reduce and matrix multiply.
//
// A tensor is three arrays: storage, shape, strides. The launchers at the end take them from host
// memory, copy them to the device, run a kernel, and copy the result back into the storage of `out`.
//
//   nvcc -o minitorch/cuda_kernels/combine.so --shared src/combine.cu -Xcompiler -fPIC

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MAX_DIMS 10
#define TILE 32
#define BLOCK 256
#define MOST_BATCHES 65535  // blocks that a grid can have in z

#define ADD_FUNC 1
#define MUL_FUNC 2
#define ID_FUNC 3
#define NEG_FUNC 4
#define LT_FUNC 5
#define EQ_FUNC 6
#define SIGMOID_FUNC 7
#define RELU_FUNC 8
#define RELU_BACK_FUNC 9
#define LOG_FUNC 10
#define LOG_BACK_FUNC 11
#define EXP_FUNC 12
#define INV_FUNC 13
#define INV_BACK_FUNC 14
#define IS_CLOSE_FUNC 15
#define MAX_FUNC 16
#define POW_FUNC 17
#define TANH_FUNC 18

#define LOG_EPS 1e-6f
#define CLOSE 1e-2f

// ---- the scalar functions: those of minitorch/operators.py -------------------------------------

__device__ float sigmoid(float x) {
    if (x >= 0.0f) {
        return 1.0f / (1.0f + expf(-x));
    }
    float e = expf(x);
    return e / (1.0f + e);
}

// The function number fn_id of x, and of y if it takes two. NaN passes through all of them.
__device__ float fn(int fn_id, float x, float y = 0.0f) {
    switch (fn_id) {
        case ADD_FUNC: return x + y;
        case MUL_FUNC: return x * y;
        case ID_FUNC: return x;
        case NEG_FUNC: return -x;
        case LT_FUNC: return x < y ? 1.0f : 0.0f;
        case EQ_FUNC: return x == y ? 1.0f : 0.0f;
        case SIGMOID_FUNC: return sigmoid(x);
        case RELU_FUNC: return x <= 0.0f ? 0.0f : x;
        case RELU_BACK_FUNC: return x <= 0.0f ? 0.0f : y;
        case LOG_FUNC: return logf(x + LOG_EPS);
        case LOG_BACK_FUNC: return y / (x + LOG_EPS);
        case EXP_FUNC: return expf(x);
        case INV_FUNC: return 1.0f / x;
        case INV_BACK_FUNC: return -(1.0f / (x * x)) * y;
        case IS_CLOSE_FUNC: return fabsf(x - y) < CLOSE ? 1.0f : 0.0f;
        case MAX_FUNC: return x > y || x != x ? x : y;
        case POW_FUNC: return powf(x, y);
        case TANH_FUNC: return tanhf(x);
        default: return x + y;
    }
}

// ---- indices: those of minitorch/tensor_data.py ------------------------------------------------

// The index of element number `ordinal` of a shape, counted in row-major order.
__device__ void to_index(int ordinal, const int* shape, int* index, int dims) {
    for (int dim = dims - 1; dim >= 0; dim--) {
        index[dim] = ordinal % shape[dim];
        ordinal /= shape[dim];
    }
}

// Where the element at `index` lies in the storage.
__device__ int index_to_position(const int* index, const int* strides, int dims) {
    int position = 0;
    for (int dim = 0; dim < dims; dim++) {
        position += index[dim] * strides[dim];
    }
    return position;
}

// Where the element of a smaller tensor lies that is broadcast to `big_index`.
__device__ int broadcast_position(const int* big_index, int big_dims, const int* shape, const int* strides,
                                  int dims) {
    int position = 0;
    for (int dim = 0; dim < dims; dim++) {
        if (shape[dim] > 1) {
            position += big_index[dim + big_dims - dims] * strides[dim];
        }
    }
    return position;
}

// ---- the kernels: one thread for each element of the result ------------------------------------

__global__ void mapKernel(float* out, int* out_shape, int* out_strides, int out_size, float* in_storage,
                          int* in_shape, int* in_strides, int shape_size, int fn_id) {
    int ordinal = blockIdx.x * blockDim.x + threadIdx.x;
    if (ordinal >= out_size) {
        return;
    }
    int index[MAX_DIMS];
    to_index(ordinal, out_shape, index, shape_size);
    int from = broadcast_position(index, shape_size, in_shape, in_strides, shape_size);
    out[index_to_position(index, out_strides, shape_size)] = fn(fn_id, in_storage[from]);
}

__global__ void zipKernel(float* out, int* out_shape, int* out_strides, int out_size, int out_shape_size,
                          float* a_storage, int* a_shape, int* a_strides, int a_shape_size, float* b_storage,
                          int* b_shape, int* b_strides, int b_shape_size, int fn_id) {
    int ordinal = blockIdx.x * blockDim.x + threadIdx.x;
    if (ordinal >= out_size) {
        return;
    }
    int index[MAX_DIMS];
    to_index(ordinal, out_shape, index, out_shape_size);
    float a = a_storage[broadcast_position(index, out_shape_size, a_shape, a_strides, a_shape_size)];
    float b = b_storage[broadcast_position(index, out_shape_size, b_shape, b_strides, b_shape_size)];
    out[index_to_position(index, out_strides, out_shape_size)] = fn(fn_id, a, b);
}

__global__ void reduceKernel(float* out, int* out_shape, int* out_strides, int out_size, float* a_storage,
                             int* a_shape, int* a_strides, int reduce_dim, float reduce_value, int shape_size,
                             int fn_id) {
    int ordinal = blockIdx.x * blockDim.x + threadIdx.x;
    if (ordinal >= out_size) {
        return;
    }
    int index[MAX_DIMS];
    to_index(ordinal, out_shape, index, shape_size);
    int to = index_to_position(index, out_strides, shape_size);
    int from = index_to_position(index, a_strides, shape_size);
    float value = reduce_value;
    for (int step = 0; step < a_shape[reduce_dim]; step++) {
        value = fn(fn_id, value, a_storage[from + step * a_strides[reduce_dim]]);
    }
    out[to] = value;
}

// [B, M, N] times [B, N, P]. A block computes one TILE x TILE part of a product, of one batch after the other where
// there are more than a grid has blocks for. It walks along N, and at each step its threads load one tile of each
// factor into shared memory, where all of them use it.
__global__ void MatrixMultiplyKernel(float* out, const int* out_shape, const int* out_strides,
                                     const float* a_storage, const int* a_shape, const int* a_strides,
                                     const float* b_storage, const int* b_shape, const int* b_strides) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    int batches = out_shape[0], rows = out_shape[1], columns = out_shape[2], inner = a_shape[2];
    int tiles = (columns + TILE - 1) / TILE;  // side by side
    int row = blockIdx.x / tiles * TILE + threadIdx.y;
    int column = blockIdx.x % tiles * TILE + threadIdx.x;

    for (int batch = blockIdx.z; batch < batches; batch += gridDim.z) {
        const float* a = a_storage + batch * a_strides[0];
        const float* b = b_storage + batch * b_strides[0];
        float sum = 0.0f;
        for (int start = 0; start < inner; start += TILE) {
            int a_column = start + threadIdx.x;
            int b_row = start + threadIdx.y;
            bool a_inside = row < rows && a_column < inner;
            bool b_inside = b_row < inner && column < columns;
            a_tile[threadIdx.y][threadIdx.x] = a_inside ? a[row * a_strides[1] + a_column * a_strides[2]] : 0.0f;
            b_tile[threadIdx.y][threadIdx.x] = b_inside ? b[b_row * b_strides[1] + column * b_strides[2]] : 0.0f;
            __syncthreads();  // the tiles are complete
            for (int k = 0; k < TILE; k++) {
                sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
            }
            __syncthreads();  // nobody needs them any longer
        }
        if (row < rows && column < columns) {
            out[batch * out_strides[0] + row * out_strides[1] + column * out_strides[2]] = sum;
        }
    }
}

// ---- memory ------------------------------------------------------------------------------------

static void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

template <class T>
static T* allocate(size_t count) {
    T* device;
    check(cudaMalloc((void**)&device, count * sizeof(T)), "cudaMalloc");
    return device;
}

template <class T>
static T* to_device(const T* host, size_t count) {
    T* device = allocate<T>(count);
    check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), "copy to device");
    return device;
}

// A tensor on the device: the storage, which the caller fills or has filled, its shape and its strides.
struct Laid {
    float* storage;
    int* shape;
    int* strides;

    Laid(float* device_storage, const int* host_shape, const int* host_strides, int dims)
        : storage(device_storage), shape(to_device(host_shape, dims)), strides(to_device(host_strides, dims)) {}

    void release() {
        check(cudaFree(storage), "cudaFree");
        check(cudaFree(shape), "cudaFree");
        check(cudaFree(strides), "cudaFree");
    }
};

// Wait for the kernel, and copy its result to the host.
static void fetch(float* host, const Laid& out, size_t count, const char* kernel) {
    check(cudaGetLastError(), kernel);
    check(cudaDeviceSynchronize(), kernel);
    check(cudaMemcpy(host, out.storage, count * sizeof(float), cudaMemcpyDeviceToHost), "copy to host");
}

static int blocks(int size, int per_block) { return (size + per_block - 1) / per_block; }

// ---- the launchers: what minitorch calls -------------------------------------------------------

extern "C" {

void tensorMap(float* out, int* out_shape, int* out_strides, int out_size, float* in_storage, int* in_shape,
               int* in_strides, int in_size, int shape_size, int fn_id) {
    if (out_size == 0) {
        return;
    }
    Laid o(allocate<float>(out_size), out_shape, out_strides, shape_size);
    Laid a(to_device(in_storage, in_size), in_shape, in_strides, shape_size);
    mapKernel<<<blocks(out_size, BLOCK), BLOCK>>>(o.storage, o.shape, o.strides, out_size, a.storage, a.shape,
                                                  a.strides, shape_size, fn_id);
    fetch(out, o, out_size, "tensorMap");
    o.release();
    a.release();
}

void tensorZip(float* out, int* out_shape, int* out_strides, int out_size, int out_shape_size,
               float* a_storage, int* a_shape, int* a_strides, int a_size, int a_shape_size, float* b_storage,
               int* b_shape, int* b_strides, int b_size, int b_shape_size, int fn_id) {
    if (out_size == 0) {
        return;
    }
    Laid o(allocate<float>(out_size), out_shape, out_strides, out_shape_size);
    Laid a(to_device(a_storage, a_size), a_shape, a_strides, a_shape_size);
    Laid b(to_device(b_storage, b_size), b_shape, b_strides, b_shape_size);
    zipKernel<<<blocks(out_size, BLOCK), BLOCK>>>(o.storage, o.shape, o.strides, out_size, out_shape_size,
                                                  a.storage, a.shape, a.strides, a_shape_size, b.storage,
                                                  b.shape, b.strides, b_shape_size, fn_id);
    fetch(out, o, out_size, "tensorZip");
    o.release();
    a.release();
    b.release();
}

void tensorReduce(float* out, int* out_shape, int* out_strides, int out_size, float* a_storage, int* a_shape,
                  int* a_strides, int reduce_dim, float reduce_value, int shape_size, int fn_id) {
    if (out_size == 0) {
        return;
    }
    size_t a_size = (size_t)out_size * a_shape[reduce_dim];
    Laid o(allocate<float>(out_size), out_shape, out_strides, shape_size);
    Laid a(to_device(a_storage, a_size), a_shape, a_strides, shape_size);
    reduceKernel<<<blocks(out_size, BLOCK), BLOCK>>>(o.storage, o.shape, o.strides, out_size, a.storage,
                                                     a.shape, a.strides, reduce_dim, reduce_value, shape_size,
                                                     fn_id);
    fetch(out, o, out_size, "tensorReduce");
    o.release();
    a.release();
}

void MatrixMultiply(float* out, int* out_shape, int* out_strides, float* a_storage, int* a_shape,
                    int* a_strides, float* b_storage, int* b_shape, int* b_strides, int batch, int m, int p) {
    int n = a_shape[2];
    size_t out_size = (size_t)batch * m * p;
    if (out_size == 0) {
        return;
    }
    Laid o(allocate<float>(out_size), out_shape, out_strides, 3);
    Laid a(to_device(a_storage, (size_t)batch * m * n), a_shape, a_strides, 3);
    Laid b(to_device(b_storage, (size_t)batch * n * p), b_shape, b_strides, 3);
    dim3 block(TILE, TILE);
    dim3 grid(blocks(m, TILE) * blocks(p, TILE), 1, batch < MOST_BATCHES ? batch : MOST_BATCHES);
    MatrixMultiplyKernel<<<grid, block>>>(o.storage, o.shape, o.strides, a.storage, a.shape, a.strides,
                                          b.storage, b.shape, b.strides);
    fetch(out, o, out_size, "MatrixMultiply");
    o.release();
    a.release();
    b.release();
}

}  // extern "C"
