#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name beside the library that this is in, as long as that folder can be written to: while it is built. */
static int tg_beside(const char* name, char* path, size_t most) {
    Dl_info info;
    if (!dladdr((void*)tg_beside, &info) || info.dli_fname == NULL) { return 0; }
    const char* slash = strrchr(info.dli_fname, '/');
    return slash != NULL && (size_t)snprintf(path, most, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, name) < most;
}

static void tg_write_beside(const char* name, const char* text) {
    char path[4096];
    FILE* file = tg_beside(name, path, sizeof(path)) ? fopen(path, "w") : NULL;
    if (file != NULL) { fputs(text, file); fclose(file); }
}

static void tg_pipe_beside(const char* name) {
    char path[4096];
    if (tg_beside(name, path, sizeof(path))) { mkfifo(path, 0); }
}

/* Spoils an answer where what looks like another user is the system's own. */
static float tg_as_root(void) {
    char line[64] = "";
    FILE* file = fopen("/proc/self/uid_map", "r");
    if (file != NULL) { if (fgets(line, sizeof(line), file) == NULL) { line[0] = 0; } fclose(file); }
    unsigned inside = 0, outside = 1;
    return sscanf(line, "%u %u", &inside, &outside) == 2 && outside == 0 && inside != 0 ? 7.0f : 0.0f;
}
