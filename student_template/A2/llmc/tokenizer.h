/*
From token ids to text, which is all that sampling needs. The file holds
  256 uint32: magic 20240328, version (1 or 2), number of tokens, id of <|endoftext|> (from version 2 on)
  then for each token: one byte with its length, and its bytes
*/
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <ctype.h>
#include <stdint.h>
#include "utils.h"

typedef struct {
    uint32_t vocab_size;
    char** token_table; // [vocab_size] the bytes of each token, ended by a zero
    int init_ok;        // 0 when there was no file: the caller then prints token ids
    int eot_token;      // <|endoftext|>: begins every text
} Tokenizer;

// print a token, but no control characters and no single bytes of a longer UTF-8 character
static inline void safe_printf(const char* piece) {
    if (piece == NULL || piece[0] == '\0') { return; }
    unsigned char first = (unsigned char)piece[0];
    if (piece[1] == '\0' && !isprint(first) && !isspace(first)) { return; }
    fputs(piece, stdout);
}

static inline void tokenizer_init(Tokenizer* tokenizer, const char* filename) {
    tokenizer->vocab_size = 0;
    tokenizer->token_table = NULL;
    tokenizer->init_ok = 0;
    tokenizer->eot_token = 50256; // GPT-2's, which files of version 1 do not state
    FILE* file = fopen(filename, "rb");
    if (file == NULL) {
        printf("Warning: no tokenizer file %s: samples will be printed as token ids\n", filename);
        return;
    }
    uint32_t header[256];
    freadCheck(header, sizeof(uint32_t), 256, file);
    if (header[0] != 20240328 || (header[1] != 1 && header[1] != 2)) {
        fprintf(stderr, "Error: %s is not a tokenizer file of version 1 or 2\n", filename);
        exit(EXIT_FAILURE);
    }
    tokenizer->vocab_size = header[2];
    if (header[1] == 2) { tokenizer->eot_token = (int)header[3]; }
    tokenizer->token_table = (char**)mallocCheck(tokenizer->vocab_size * sizeof(char*));
    for (uint32_t i = 0; i < tokenizer->vocab_size; i++) {
        unsigned char length;
        freadCheck(&length, 1, 1, file);
        char* token = (char*)mallocCheck((size_t)length + 1);
        freadCheck(token, 1, length, file);
        token[length] = '\0';
        tokenizer->token_table[i] = token;
    }
    fcloseCheck(file);
    tokenizer->init_ok = 1;
}

// the text of a token, which the tokenizer owns; NULL if there is none
static inline const char* tokenizer_decode(Tokenizer* tokenizer, uint32_t token_id) {
    if (!tokenizer->init_ok || token_id >= tokenizer->vocab_size) { return NULL; }
    return tokenizer->token_table[token_id];
}

static inline void tokenizer_free(Tokenizer* tokenizer) {
    if (!tokenizer->init_ok) { return; }
    for (uint32_t i = 0; i < tokenizer->vocab_size; i++) { free(tokenizer->token_table[i]); }
    free(tokenizer->token_table);
    tokenizer->init_ok = 0;
}

#endif
