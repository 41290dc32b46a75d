// CUDA's runtime interface for the host: memory, copies, errors.

#include "model.h"
#include "tg_launch.h"

#include "tg_api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tg {

static int last_error;
static int current_call;

void set_last_error(int error) { last_error = error; }
void set_current_call(int call) { current_call = call; }

static cudaError_t failed(cudaError_t error) {
    last_error = error;
    return error;
}

static uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
static bool on_device(const void* pointer) { return device_memory.holds(number(pointer)); }

static Finding about(const char* kind, const Array* array, int line) {
    Finding f{kind};
    f.line = line;
    if (array != nullptr) {
        f.space = space_of(array->kind);
        f.name = array->name;
        f.size = static_cast<long>(array->end - array->begin);
    }
    return f;
}

// The array that a range lies in. What is wrong with the range is told; none if it is of memory that is not known.
static Array* checked(const Arena& arena, const void* start, size_t bytes, bool write, int line, bool* wrong) {
    uintptr_t address = number(start);
    Array* array = arena.at(address);
    array = array == nullptr ? arena.nearest(address) : array;
    if (array == nullptr) {
        *wrong = true;
        tell(about("pointer", nullptr, line));
        return nullptr;
    }
    bool within = address >= array->begin && address <= array->end && bytes <= array->end - address;
    if (array->freed || !within) {
        Finding f = about(array->freed ? "freed" : "copy", array, line);
        f.access = write ? "write" : "read";
        f.offset = static_cast<long>(address) - static_cast<long>(array->begin);
        f.bytes = static_cast<long>(bytes);
        tell(f);
        *wrong = true;
    }
    return array;
}

// The end of a copy that lies on the host; memory that is not one of the arguments is the student's own.
static Array* checked_host(const void* start, size_t bytes, bool write, int line, bool* wrong) {
    return host_memory.holds(number(start)) ? checked(host_memory, start, bytes, write, line, wrong) : nullptr;
}

static const char* direction(bool to_device, bool from_device) {
    return to_device ? (from_device ? "cudaMemcpyDeviceToDevice" : "cudaMemcpyHostToDevice")
                     : (from_device ? "cudaMemcpyDeviceToHost" : "cudaMemcpyHostToHost");
}

static bool direction_is_right(const void* to, const void* from, cudaMemcpyKind kind, int line) {
    static const bool to_device[] = {false, true, false, true}, from_device[] = {false, false, true, true};
    if (kind == cudaMemcpyDefault) {
        return true;
    }
    if (kind <= cudaMemcpyDefault && to_device[kind] == on_device(to) && from_device[kind] == on_device(from)) {
        return true;
    }
    static char text[120];
    const char* asked = kind < cudaMemcpyDefault ? direction(to_device[kind], from_device[kind]) : "of no known kind";
    snprintf(text, sizeof text, "%s,%s", asked, direction(on_device(to), on_device(from)));
    const void* device = on_device(to) ? to : from;
    Finding f = about("direction", on_device(device) ? device_memory.nearest(number(device)) : nullptr, line);
    f.text = text;
    tell(f);
    return false;
}

static void tell_unwritten(const void* from, size_t bytes, const Array* array, const Array* into, int line) {
    long first = 0;
    long count = count_unwritten(number(from), bytes, &first);
    if (count > 0) {
        Finding f = about("unwritten copy", array, line);
        f.name = into != nullptr && f.name[0] == 0 ? into->name : f.name;
        f.count = count;
        f.offset = static_cast<long>(number(from) - array->begin) + first;
        f.bytes = static_cast<long>(bytes);
        tell(f);
    }
}

static void copy_cells(const void* to, const void* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 4) {
        cells_of(number(to) + at)->written = cells_of(number(from) + at)->written;
    }
}

}  // namespace tg

using namespace tg;

cudaError_t tg_malloc(void** place, size_t bytes, int line) {
    if (bytes == 0) {
        *place = nullptr;
        return cudaSuccess;
    }
    Array* array = make_array(bytes, Kind::device, "");
    if (array == nullptr) {
        Finding f{"room"};
        f.bytes = static_cast<long>(bytes);
        f.line = line;
        tell(f);
        *place = nullptr;
        return failed(cudaErrorMemoryAllocation);
    }
    array->call = current_call;
    array->declared_in = line;
    *place = reinterpret_cast<void*>(array->begin);
    return cudaSuccess;
}

cudaError_t tg_free(void* device, int line) {
    if (device == nullptr) {
        return cudaSuccess;
    }
    Array* array = on_device(device) ? device_memory.at(number(device)) : nullptr;
    if (array == nullptr || array->begin != number(device) || array->freed || array->kind != Kind::device) {
        Finding f = about("free", array, line);
        f.text = array == nullptr ? (on_device(device) ? "" : "host") : array->freed ? "twice" : "inside";
        tell(f);
        return failed(cudaErrorInvalidValue);
    }
    array->freed = true;
    return cudaSuccess;
}

cudaError_t tg_memcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int line) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    if (!direction_is_right(to, from, kind, line)) {
        return failed(cudaErrorInvalidValue);
    }
    bool wrong = false;
    bool to_device = on_device(to), from_device = on_device(from);
    Array* target = to_device ? checked(device_memory, to, bytes, true, line, &wrong)
                              : checked_host(to, bytes, true, line, &wrong);
    Array* source = from_device ? checked(device_memory, from, bytes, false, line, &wrong)
                                : checked_host(from, bytes, false, line, &wrong);
    if (wrong) {
        return failed(cudaErrorInvalidValue);
    }
    Unlocked memory;
    if (from_device && !to_device) {
        tell_unwritten(from, bytes, source, target, line);
        if (target != nullptr) {
            target->copied_into = true;
        }
    }
    memmove(to, from, bytes);
    if (to_device && from_device) {
        copy_cells(to, from, bytes);
    } else if (to_device) {
        mark_written(number(to), bytes);
    }
    return cudaSuccess;
}

cudaError_t tg_memset(void* device, int value, size_t bytes, int line) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    bool wrong = !on_device(device);
    if (wrong) {
        Finding f{"direction"};
        f.text = "cudaMemset,host";
        f.line = line;
        tell(f);
    } else {
        checked(device_memory, device, bytes, true, line, &wrong);
    }
    if (wrong) {
        return failed(cudaErrorInvalidValue);
    }
    Unlocked memory;
    memset(device, value, bytes);
    mark_written(number(device), bytes);
    return cudaSuccess;
}

cudaError_t cudaGetLastError() {
    cudaError_t error = static_cast<cudaError_t>(last_error);
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(last_error); }

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInvalidConfiguration: return "invalid configuration argument";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        default: return "unknown error";
    }
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
        default: return "cudaErrorUnknown";
    }
}

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice); }

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    *properties = cudaDeviceProp{};
    strcpy(properties->name, "execution model on the host");
    properties->totalGlobalMem = ROOM;
    properties->sharedMemPerBlock = 48 << 10;
    properties->regsPerBlock = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->multiProcessorCount = 1;
    properties->major = 8;
    int threads[] = {1024, 1024, 64}, blocks[] = {0x7fffffff, 65535, 65535};
    memcpy(properties->maxThreadsDim, threads, sizeof threads);
    memcpy(properties->maxGridSize, blocks, sizeof blocks);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *total = ROOM;
    *free = ROOM - device_memory.used;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    *stream = nullptr;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = nullptr;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 0.0f;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
