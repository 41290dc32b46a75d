// Stands in for a student's kernels on machines without a GPU: the four launchers in plain C++, for the host.
// A test replaces what is marked by a mistake.
#include <dlfcn.h>

#include <cmath>
#include <vector>

static float fn(int id, float x, float y) {
    switch (id) {
        case 1: return x + y;
        case 2: return x * y;
        case 3: return x;
        case 4: return -x;
        case 5: return x < y;
        case 6: return x == y;
        case 7: return 1.0f / (1.0f + std::exp(-x));
        case 8: return x <= 0 ? 0 : x;
        case 9: return x <= 0 ? 0 : y;
        case 10: return std::log(x + 1e-6f);
        case 11: return y / (x + 1e-6f);
        case 12: return std::exp(x);
        case 13: return 1 / x;
        case 14: return -y / (x * x);
        case 15: return std::fabs(x - y) < 1e-2f;
        case 16: return x > y || x != x ? x : y;
        case 17: return std::pow(x, y);
        default: return std::tanh(x);
    }
}

typedef std::vector<int> Index;

static Index to_index(int ordinal, const int* shape, int dims) {
    Index index(dims);
    for (int dim = dims - 1; dim >= 0; dim--) {
        index[dim] = ordinal % shape[dim];
        ordinal /= shape[dim];
    }
    return index;
}

static int position(const Index& index, const int* shape, const int* strides, int dims) {
    int skipped = (int)index.size() - dims, found = 0;
    for (int dim = 0; dim < dims; dim++) {
        found += (shape[dim] > 1 ? index[dim + skipped] : 0) * strides[dim];
    }
    return found;
}

// What a kernel out of bounds does to the driver's context.
static void break_context() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver != nullptr) {
        *(int*)dlsym(driver, "standin_error") = 700;
    }
}

extern "C" {

void tensorMap(float* out, int* out_shape, int* out_strides, int out_size, float* a, int* a_shape, int* a_strides,
               int a_size, int dims, int id) {
    for (int i = 0; i < out_size; i++) {
        Index index = to_index(i, out_shape, dims);
        out[position(index, out_shape, out_strides, dims)] = fn(id, a[position(index, a_shape, a_strides, dims)], 0);
    }
    /* map */
}

void tensorZip(float* out, int* out_shape, int* out_strides, int out_size, int dims, float* a, int* a_shape,
               int* a_strides, int a_size, int a_dims, float* b, int* b_shape, int* b_strides, int b_size, int b_dims,
               int id) {
    for (int i = 0; i < out_size; i++) {
        Index index = to_index(i, out_shape, dims);
        float x = a[position(index, a_shape, a_strides, a_dims)], y = b[position(index, b_shape, b_strides, b_dims)];
        out[position(index, out_shape, out_strides, dims)] = fn(id, x, y);
    }
    /* zip */
}

void tensorReduce(float* out, int* out_shape, int* out_strides, int out_size, float* a, int* a_shape, int* a_strides,
                  int dim, float start, int dims, int id) {
    for (int i = 0; i < out_size; i++) {
        Index index = to_index(i, out_shape, dims);
        float value = start;
        for (index[dim] = 0; index[dim] < a_shape[dim]; index[dim]++) {
            value = fn(id, value, a[position(index, a_shape, a_strides, dims)]);
        }
        index[dim] = 0;
        out[position(index, out_shape, out_strides, dims)] = value;
    }
    /* reduce */
}

void MatrixMultiply(float* out, int* out_shape, int* out_strides, float* a, int* a_shape, int* a_strides, float* b,
                    int* b_shape, int* b_strides, int batch, int m, int p) {
    for (int i = 0; i < batch * m * p; i++) {
        Index at = to_index(i, out_shape, 3);
        double sum = 0;
        for (int k = 0; k < a_shape[2]; k++) {
            sum += (double)a[at[0] * a_strides[0] + at[1] * a_strides[1] + k * a_strides[2]] *
                   b[at[0] * b_strides[0] + k * b_strides[1] + at[2] * b_strides[2]];
        }
        out[position(at, out_shape, out_strides, 3)] = (float)sum;
    }
    /* matmul */
}

}  // extern "C"
