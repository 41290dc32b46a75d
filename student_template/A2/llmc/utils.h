/*
File and memory calls that stop the program with a plain message when they fail. Each xxxCheck is a
macro around a function, so that the message can name the line of the caller.
*/
#ifndef UTILS_H
#define UTILS_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 3, 4)))
#endif
static inline void stop_at(const char* file, int line, const char* format, ...) {
    va_list args;
    fflush(stdout); // what was printed before the mistake should also be read before it
    fprintf(stderr, "Error: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (%s:%d)\n", file, line);
    exit(EXIT_FAILURE);
}

static inline FILE* fopen_check(const char* path, const char* mode, const char* file, int line) {
    FILE* stream = fopen(path, mode);
    if (stream == NULL) {
        stop_at(file, line, "cannot open %s: %s. The tiny files are made by `make data`", path, strerror(errno));
    }
    return stream;
}

static inline void fread_check(void* to, size_t size, size_t count, FILE* stream, const char* file, int line) {
    size_t got = fread(to, size, count, stream);
    if (got != count) {
        stop_at(file, line, "%s: read %zu of %zu elements of %zu bytes",
                feof(stream) ? "the file is too short" : "cannot read the file", got, count, size);
    }
}

static inline void fwrite_check(const void* from, size_t size, size_t count, FILE* stream, const char* file, int line) {
    size_t put = fwrite(from, size, count, stream);
    if (put != count) {
        stop_at(file, line, "cannot write the file: wrote %zu of %zu elements: %s", put, count, strerror(errno));
    }
}

static inline void fseek_check(FILE* stream, long offset, int whence, const char* file, int line) {
    if (fseek(stream, offset, whence) != 0) {
        stop_at(file, line, "cannot move to byte %ld of the file: %s", offset, strerror(errno));
    }
}

static inline void fclose_check(FILE* stream, const char* file, int line) {
    if (fclose(stream) != 0) { stop_at(file, line, "cannot close the file: %s", strerror(errno)); }
}

static inline void* malloc_check(size_t size, const char* file, int line) {
    void* memory = malloc(size);
    if (memory == NULL && size > 0) { stop_at(file, line, "no memory for %zu bytes", size); }
    return memory;
}

// a token is used as a row of wte: one outside of the vocabulary would read foreign memory
static inline void token_check(const int* tokens, int count, int vocab_size, const char* file, int line) {
    for (int i = 0; i < count; i++) {
        if (tokens[i] < 0 || tokens[i] >= vocab_size) {
            stop_at(file, line, "token %d at position %d is outside of the vocabulary of %d", tokens[i], i, vocab_size);
        }
    }
}

#define fopenCheck(path, mode) fopen_check(path, mode, __FILE__, __LINE__)
#define freadCheck(to, size, count, stream) fread_check(to, size, count, stream, __FILE__, __LINE__)
#define fwriteCheck(from, size, count, stream) fwrite_check(from, size, count, stream, __FILE__, __LINE__)
#define fseekCheck(stream, offset, whence) fseek_check(stream, offset, whence, __FILE__, __LINE__)
#define fcloseCheck(stream) fclose_check(stream, __FILE__, __LINE__)
#define mallocCheck(size) malloc_check(size, __FILE__, __LINE__)
#define tokenCheck(tokens, count, vocab_size) token_check(tokens, count, vocab_size, __FILE__, __LINE__)

#endif
