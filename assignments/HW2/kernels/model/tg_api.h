// The part of CUDA's runtime interface that kernels' launchers use. Streams and events are there in name: all is done
// at once, in the order in which it is asked for.

#pragma once

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorUnknown = 999
};

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

typedef struct tg_event* cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
};

#define cudaHostAllocDefault 0u
#define cudaEventDefault 0u
#define cudaStreamNonBlocking 1u
#define cudaMemAttachGlobal 1u

cudaError_t tg_malloc(void** place, size_t bytes, int line);
cudaError_t tg_free(void* device, int line);
cudaError_t tg_memcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int line);
cudaError_t tg_memset(void* device, int value, size_t bytes, int line);

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t last);
cudaError_t cudaEventDestroy(cudaEvent_t event);

// The line of a call is told with what is wrong with it.
#define cudaMalloc(place, bytes) tg_malloc((void**)(place), (bytes), __LINE__)
#define cudaFree(device) tg_free((void*)(device), __LINE__)
#define cudaMemcpy(to, from, bytes, kind) tg_memcpy((void*)(to), (from), (bytes), (kind), __LINE__)
#define cudaMemcpyAsync(to, from, bytes, kind, ...) tg_memcpy((void*)(to), (from), (bytes), (kind), __LINE__)
#define cudaMemset(device, value, bytes) tg_memset((void*)(device), (value), (bytes), __LINE__)
#define cudaMemsetAsync(device, value, bytes, ...) tg_memset((void*)(device), (value), (bytes), __LINE__)
#define cudaMallocHost(place, bytes) (*(void**)(place) = malloc(bytes), cudaSuccess)
#define cudaHostAlloc(place, bytes, flags) (*(void**)(place) = malloc(bytes), cudaSuccess)
#define cudaFreeHost(host) (free(host), cudaSuccess)
#define cudaMemcpyToSymbol(symbol, from, bytes) (memcpy((void*)&(symbol), (from), (bytes)), cudaSuccess)
#define cudaThreadSynchronize() cudaDeviceSynchronize()
#define cudaFuncSetAttribute(...) cudaSuccess
