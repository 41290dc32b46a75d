// The program in which ThreadSanitizer watches the student's functions: its runtime has to be linked with a
// program, and Python's is not ours. The shim, with the student's file in it, is linked to this.
//
//   races function NAME REGIONS SIZES... -- FILE...   one operator; a tensor's bytes in each FILE, `-` for NULL
//   races steps CHECKPOINT TOKENS B T STEPS SETTINGS...   the whole program; TOKENS: inputs, then targets
//
// REGIONS is written: `<index> <address> <bytes>` of each tensor, so that a report's addresses have names.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_TENSORS = 16, MOST_SIZES = 8, UNUSABLE = 78 };

// The wrappers of the shim; a part of it may have been left out.
void *tg_model_new(const char *checkpoint) __attribute__((weak));
void tg_forward(void *model, int *inputs, int *targets, int B, int T) __attribute__((weak));
void tg_zero_grad(void *model) __attribute__((weak));
void tg_backward(void *model) __attribute__((weak));
void tg_update(void *model, const float *settings, int step) __attribute__((weak));

static void stop(const char *what) {
    fprintf(stderr, "races: %s\n", what);
    exit(UNUSABLE);
}

// A file's bytes, in memory of their own.
static void *contents(const char *path, long *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (*size = ftell(file)) < 0) { stop(path); }
    rewind(file);
    void *bytes = malloc((size_t)*size + 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)*size, file) != (size_t)*size) { stop(path); }
    fclose(file);
    return bytes;
}

// Bounds the memory from here on: the runtime has taken hold of terabytes of addresses for itself.
static void bound_memory(void) {
    const char *megabytes = getenv("TG_MEMORY_MB");
    unsigned long pages = 0, data = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (megabytes == NULL || file == NULL) { return; }
    int found = fscanf(file, "%lu %*u %*u %*u %*u %lu", &pages, &data);
    fclose(file);
    if (found != 2) { return; }
    rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE), room = (rlim_t)strtoul(megabytes, NULL, 10) << 20;
    setrlimit(RLIMIT_AS, &(struct rlimit){pages * page + room, pages * page + room});
    setrlimit(RLIMIT_DATA, &(struct rlimit){data * page + room, data * page + room});
}

static int call_function(int argc, char **argv) {
    char wrapper[128];
    void *pointers[MOST_TENSORS] = {0};
    int sizes[MOST_SIZES] = {0}, i = 4;
    for (int n = 0; i < argc && strcmp(argv[i], "--") != 0 && n < MOST_SIZES; n++) { sizes[n] = atoi(argv[i++]); }
    FILE *regions = fopen(argv[3], "w");
    if (regions == NULL) { stop(argv[3]); }
    i++;
    for (int n = 0; i < argc && n < MOST_TENSORS; n++, i++) {
        long size = 0;
        if (strcmp(argv[i], "-") == 0) { continue; }
        pointers[n] = contents(argv[i], &size);
        fprintf(regions, "%d %lu %ld\n", n, (unsigned long)(uintptr_t)pointers[n], size);
    }
    fclose(regions);
    snprintf(wrapper, sizeof(wrapper), "tg_probe_%s", argv[2]);
    void (*probe)(void **, const int *) = (void (*)(void **, const int *))(uintptr_t)dlsym(RTLD_DEFAULT, wrapper);
    if (probe == NULL) { stop("there is no such function"); }
    probe(pointers, sizes);
    return 0;
}

static int make_steps(int argc, char **argv) {
    long bytes = 0;
    float settings[MOST_SIZES] = {0};
    if (!tg_model_new || !tg_forward || !tg_zero_grad || !tg_backward || !tg_update) { stop("a function is missing"); }
    int *tokens = contents(argv[3], &bytes);
    int B = atoi(argv[4]), T = atoi(argv[5]), steps = atoi(argv[6]);
    for (int i = 7; i < argc && i - 7 < MOST_SIZES; i++) { settings[i - 7] = strtof(argv[i], NULL); }
    void *model = tg_model_new(argv[2]);
    for (int step = 1; step <= steps; step++) {
        tg_forward(model, tokens, tokens + B * T, B, T);
        tg_zero_grad(model);
        tg_backward(model);
        tg_update(model, settings, step);
    }
    return 0;
}

#undef main // the student's may have been left in, under another name
int main(int argc, char **argv) {
    bound_memory();
    if (argc > 4 && strcmp(argv[1], "function") == 0) { return call_function(argc, argv); }
    if (argc > 6 && strcmp(argv[1], "steps") == 0) { return make_steps(argc, argv); }
    stop("wrong arguments");
}
