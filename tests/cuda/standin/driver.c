/* Stands in for the NVIDIA driver's library: what the grader asks of it, and a GPU by the name of a made-up one. */
#include <string.h>

int standin_error = 0; /* what kernels have done to the context */

int cuInit(unsigned flags) { return (int)flags; }

int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
    (void)device;
    strncpy(name, "Stand-in 1", (size_t)length);
    return 0;
}

int cuCtxSynchronize(void) { return standin_error; }

int cuGetErrorString(int error, const char** text) {
    *text = error == 700 ? "an illegal memory access was encountered" : "no GPU";
    return 0;
}
