/*
Serves batches of B sequences of T tokens from one or several files ("shards"). A shard holds
  256 int32: magic 20240520, version 1, number of tokens
  then the tokens as uint16
A batch of all processes together is num_processes * B * T tokens in a row, and each process takes its
B * T of them. The targets are the inputs moved on by one token. What does not fill a batch at the end
of a shard is left out.
*/
#ifndef DATALOADER_H
#define DATALOADER_H

#include <glob.h>
#include <stdint.h>
#include "utils.h"

#define DATALOADER_HEADER_INTS 256

typedef struct {
    // what the training loop reads
    int* inputs;       // [B, T]
    int* targets;      // [B, T]
    size_t num_tokens; // of all shards together
    // settings
    size_t B, T;
    int process_rank, num_processes;
    int should_shuffle;
    // the shards and the batches in them; an epoch walks through order[0 .. num_batches-1]
    glob_t shards;
    size_t* first_batch; // [number of shards + 1] number of the first batch in each shard
    size_t num_batches;
    size_t* order;       // [num_batches]
    size_t position;     // in order: the next batch
    uint64_t rng;
    // the shard that is open
    FILE* file;
    size_t open_shard;
    uint16_t* buffer; // [B * T + 1]
} DataLoader;

// open a shard in place of the one before it; returns its number of tokens
static inline size_t dataloader_open_(DataLoader* loader, size_t shard) {
    const char* path = loader->shards.gl_pathv[shard];
    if (loader->file != NULL) { fcloseCheck(loader->file); }
    loader->file = fopenCheck(path, "rb");
    loader->open_shard = shard;
    int32_t header[DATALOADER_HEADER_INTS];
    freadCheck(header, sizeof(int32_t), DATALOADER_HEADER_INTS, loader->file);
    if (header[0] != 20240520 || header[1] != 1 || header[2] <= 0) {
        fprintf(stderr, "Error: %s is not a token file of version 1\n", path);
        exit(EXIT_FAILURE);
    }
    // a download that broke off should be noticed now, not in the middle of a run
    fseekCheck(loader->file, 0, SEEK_END);
    long bytes = ftell(loader->file);
    if (bytes != (long)(sizeof(header) + (size_t)header[2] * sizeof(uint16_t))) {
        fprintf(stderr, "Error: %s says it has %d tokens, but its size of %ld bytes does not fit that\n",
                path, (int)header[2], bytes);
        exit(EXIT_FAILURE);
    }
    return (size_t)header[2];
}

// Fisher-Yates with a xorshift generator: every process draws the same order, and so does every run
static inline void dataloader_shuffle_(DataLoader* loader) {
    for (size_t i = loader->num_batches - 1; i > 0; i--) {
        loader->rng ^= loader->rng << 13;
        loader->rng ^= loader->rng >> 7;
        loader->rng ^= loader->rng << 17;
        size_t j = (size_t)(loader->rng % (i + 1));
        size_t swap = loader->order[i];
        loader->order[i] = loader->order[j];
        loader->order[j] = swap;
    }
}

// begin a new epoch
static inline void dataloader_reset(DataLoader* loader) {
    loader->position = 0;
    if (loader->should_shuffle) { dataloader_shuffle_(loader); }
}

// filename_pattern may have wildcards (*, ?), then every file that fits it is a shard
static inline void dataloader_init(DataLoader* loader, const char* filename_pattern, size_t B, size_t T,
                                   int process_rank, int num_processes, int should_shuffle) {
    memset(loader, 0, sizeof(*loader));
    loader->B = B;
    loader->T = T;
    loader->process_rank = process_rank;
    loader->num_processes = num_processes;
    loader->should_shuffle = should_shuffle;
    loader->rng = 0x9E3779B97F4A7C15ull;
    if (glob(filename_pattern, 0, NULL, &loader->shards) != 0) {
        fprintf(stderr, "Error: no token file fits %s. The tiny ones are made by `make data`\n", filename_pattern);
        exit(EXIT_FAILURE);
    }
    size_t num_shards = loader->shards.gl_pathc, batch = (size_t)num_processes * B * T;
    loader->first_batch = (size_t*)mallocCheck((num_shards + 1) * sizeof(size_t));
    for (size_t s = 0; s < num_shards; s++) {
        size_t tokens = dataloader_open_(loader, s);
        loader->first_batch[s] = loader->num_batches;
        loader->num_tokens += tokens;
        loader->num_batches += (tokens - 1) / batch; // -1: the last target lies one further on
    }
    loader->first_batch[num_shards] = loader->num_batches;
    if (loader->num_batches == 0) {
        fprintf(stderr, "Error: %s has %zu tokens, a batch needs %zu\n", filename_pattern, loader->num_tokens, batch + 1);
        exit(EXIT_FAILURE);
    }
    loader->order = (size_t*)mallocCheck(loader->num_batches * sizeof(size_t));
    for (size_t i = 0; i < loader->num_batches; i++) { loader->order[i] = i; }
    loader->inputs = (int*)mallocCheck(B * T * sizeof(int));
    loader->targets = (int*)mallocCheck(B * T * sizeof(int));
    loader->buffer = (uint16_t*)mallocCheck((B * T + 1) * sizeof(uint16_t));
    dataloader_reset(loader);
}

static inline void dataloader_next_batch(DataLoader* loader) {
    if (loader->position == loader->num_batches) { dataloader_reset(loader); }
    size_t batch = loader->order[loader->position++];
    size_t shard = 0;
    while (batch >= loader->first_batch[shard + 1]) { shard++; }
    if (shard != loader->open_shard) { dataloader_open_(loader, shard); }

    size_t BT = loader->B * loader->T;
    size_t block = (batch - loader->first_batch[shard]) * (size_t)loader->num_processes + (size_t)loader->process_rank;
    long offset = (long)(DATALOADER_HEADER_INTS * sizeof(int32_t) + block * BT * sizeof(uint16_t));
    fseekCheck(loader->file, offset, SEEK_SET);
    freadCheck(loader->buffer, sizeof(uint16_t), BT + 1, loader->file);
    for (size_t i = 0; i < BT; i++) {
        loader->inputs[i] = loader->buffer[i];
        loader->targets[i] = loader->buffer[i + 1];
    }
}

static inline void dataloader_free(DataLoader* loader) {
    free(loader->inputs);
    free(loader->targets);
    free(loader->buffer);
    free(loader->order);
    free(loader->first_batch);
    fcloseCheck(loader->file);
    globfree(&loader->shards);
}

#endif
