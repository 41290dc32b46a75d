/*
Runs train_gpt2.c on a batch for which PyTorch has written down what should come out: logits, loss,
all gradients, and the losses of the optimiser's first steps.

The debug state is a file of
  256 int32: magic 20240327, version 2, B, T, S
  x [B, T] and y [B, T] int32, logits [B, T, V], loss [1], gradients [num_parameters], losses [S] float32
where S = 0 (as in the real gpt2_124M_debug_state.bin) stands for the ten losses known for that file.
*/
#define TESTING
#include "train_gpt2.c"

#define KNOWN_STEPS 10
#define MAX_STEPS 1000

// The losses of the real 124M state.
static const float known_losses[KNOWN_STEPS] = {
    5.270007133483887f, 4.059706687927246f, 3.3751230239868164f, 2.8007826805114746f, 2.315382242202759f,
    1.8490285873413086f, 1.3946564197540283f, 0.9991465210914612f, 0.6240804195404053f, 0.37651097774505615f,
};

// NaN and infinity by their bits. -Ofast lets the compiler assume that neither exists: it may drop
// isnan(x) and x != x, and turn every comparison with a NaN into "fine". It cannot do so with
// integers read from memory, and not across a call that is not inlined.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static int is_finite(const float* x) {
    uint32_t bits;
    memcpy(&bits, x, sizeof(bits));
    return (bits & 0x7f800000u) != 0x7f800000u; // an exponent of all ones is NaN or infinity
}

static void set_to_nan(float* x) {
    uint32_t bits = 0x7fc00000u;
    memcpy(x, &bits, sizeof(bits));
}

// print the first elements of two tensors, and whether all n lie within 2e-2 of each other
int check_tensor(float *a, float *b, int n, const char* label) {
    const float tolerance = 2e-2f;
    float maxdiff = 0.0f;
    int ok = 1, finite = 1;
    printf("%s\n", label);
    for (int i = 0; i < n; i++) {
        float diff = fabsf(a[i] - b[i]);
        int both_finite = is_finite(&a[i]) && is_finite(&b[i]);
        int close = both_finite && diff <= tolerance;
        if (both_finite && diff > maxdiff) { maxdiff = diff; }
        finite = finite && both_finite;
        ok = ok && close;
        if (i < 5) { printf("%s %f %f\n", close ? "OK" : "NOT OK", a[i], b[i]); }
    }
    if (!finite) { set_to_nan(&maxdiff); }
    printf("TENSOR %s, maxdiff = %e\n", ok ? "OK" : "NOT OK", maxdiff);
    return ok;
}

// all real columns of the logits within 1e-2; expected [B*T, V], logits [B*T, Vp]
static int check_logits(const float* expected, const float* logits, int BT, int V, int Vp) {
    float max_diff = 0.0f;
    int ok = 1;
    for (int bt = 0; bt < BT && ok; bt++) {
        for (int v = 0; v < V && ok; v++) {
            const float* want = expected + (size_t)bt * V + v;
            const float* got = logits + (size_t)bt * Vp + v;
            if (bt == 0 && v < 10) { printf("%f, %f\n", *want, *got); }
            int both_finite = is_finite(want) && is_finite(got);
            float diff = fabsf(*want - *got);
            if (!both_finite) { set_to_nan(&max_diff); } else if (diff > max_diff) { max_diff = diff; }
            if (!both_finite || diff >= 1e-2f) {
                printf("MISMATCH AT INDEX %d,%d: %f %f\n", bt, v, *want, *got);
                ok = 0;
            }
        }
    }
    printf("%sOK (LOGITS), max_diff = %e\n", ok ? "" : "NOT ", max_diff);
    return ok;
}

static int loss_is_close(const float* actual, const float* expected) {
    return is_finite(actual) && is_finite(expected) && fabsf(*actual - *expected) < 1e-2f;
}

static int check_gradients(const GPT2* model, const ParameterTensors* want) {
    size_t V = model->config.vocab_size, C = model->config.channels;
    size_t L = model->config.num_layers, maxT = model->config.max_seq_len;
    const ParameterTensors* got = &model->grads;
    const struct { float *got, *want; size_t n; const char* label; } tensors[] = {
        {got->wte, want->wte, V * C, "dwte"}, // without the padded rows
        {got->wpe, want->wpe, maxT * C, "dwpe"},
        {got->ln1w, want->ln1w, L * C, "dln1w"},
        {got->ln1b, want->ln1b, L * C, "dln1b"},
        {got->qkvw, want->qkvw, L * 3 * C * C, "dqkvw"},
        {got->qkvb, want->qkvb, L * 3 * C, "dqkvb"},
        {got->attprojw, want->attprojw, L * C * C, "dattprojw"},
        {got->attprojb, want->attprojb, L * C, "dattprojb"},
        {got->ln2w, want->ln2w, L * C, "dln2w"},
        {got->ln2b, want->ln2b, L * C, "dln2b"},
        {got->fcw, want->fcw, L * 4 * C * C, "dfcw"},
        {got->fcb, want->fcb, L * 4 * C, "dfcb"},
        {got->fcprojw, want->fcprojw, L * C * 4 * C, "dfcprojw"},
        {got->fcprojb, want->fcprojb, L * C, "dfcprojb"},
        {got->lnfw, want->lnfw, C, "dlnfw"},
        {got->lnfb, want->lnfb, C, "dlnfb"},
    };
    int ok = 1;
    for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++) {
        ok = check_tensor(tensors[i].got, tensors[i].want, (int)tensors[i].n, tensors[i].label) && ok;
    }
    return ok;
}

// what PyTorch wrote down
typedef struct {
    int B, T, steps;
    int *x, *y;             // [B, T]
    float* logits;          // [B, T, V]
    float loss;
    float* grads_memory;    // [num_parameters]
    ParameterTensors grads;
    float losses[MAX_STEPS];
} DebugState;

static void read_state(DebugState* state, GPT2* model, const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) { printf("Error opening state file\n"); exit(1); }
    int header[256];
    freadCheck(header, sizeof(int), 256, file);
    if (header[0] != 20240327) { printf("Bad magic state file\n"); exit(1); }
    if (header[1] != 2) { printf("Bad version in state file\n"); exit(1); }
    int B = header[2], T = header[3], S = header[4], V = model->config.vocab_size;
    if (B <= 0 || T <= 0 || T > model->config.max_seq_len || S < 0 || S > MAX_STEPS) {
        printf("Bad state file: B=%d T=%d steps=%d do not fit this model\n", B, T, S);
        exit(1);
    }
    printf("[State]\n");
    printf("batch_size: %d\n", B);
    printf("seq_len: %d\n", T);

    size_t BT = (size_t)B * T;
    state->B = B;
    state->T = T;
    state->x = (int*)mallocCheck(BT * sizeof(int));
    state->y = (int*)mallocCheck(BT * sizeof(int));
    state->logits = (float*)mallocCheck(BT * V * sizeof(float));
    state->grads_memory = malloc_and_point_parameters(&state->grads, model->param_sizes);
    freadCheck(state->x, sizeof(int), BT, file);
    freadCheck(state->y, sizeof(int), BT, file);
    freadCheck(state->logits, sizeof(float), BT * V, file);
    freadCheck(&state->loss, sizeof(float), 1, file);
    freadCheck(state->grads_memory, sizeof(float), model->num_parameters, file);
    if (S > 0) {
        freadCheck(state->losses, sizeof(float), S, file);
    } else {
        memcpy(state->losses, known_losses, sizeof(known_losses));
    }
    state->steps = S > 0 ? S : KNOWN_STEPS;
    fcloseCheck(file);
}

static void free_state(DebugState* state) {
    free(state->x);
    free(state->y);
    free(state->logits);
    free(state->grads_memory);
}

// one step of training; the first is compared in full, each one by its loss
static int check_step(GPT2* model, DebugState* state, int step) {
    int ok = 1;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    gpt2_forward(model, state->x, state->y, state->B, state->T);
    gpt2_zero_grad(model);
    gpt2_backward(model);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms = (end.tv_sec - start.tv_sec) * 1000.0 + (end.tv_nsec - start.tv_nsec) / 1e6;

    if (step == 0) {
        ok = check_logits(state->logits, model->acts.logits, state->B * state->T,
                          model->config.vocab_size, model->config.padded_vocab_size);
        int loss_ok = loss_is_close(&model->mean_loss, &state->loss);
        printf("LOSS %s: %f %f\n", loss_ok ? "OK" : "MISMATCH", model->mean_loss, state->loss);
        ok = ok && loss_ok;
        if (model->grads_memory == NULL) {
            printf("Error: no gradients: gpt2_backward has not allocated model->grads_memory (not written yet?)\n");
            printf("overall okay: 0\n");
            exit(1);
        }
        ok = check_gradients(model, &state->grads) && ok;
    }

    gpt2_update(model, 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, step + 1);
    int step_ok = loss_is_close(&model->mean_loss, &state->losses[step]);
    printf("step %d: loss %f (took %f ms) OK = %d\n", step, model->mean_loss, ms, step_ok);
    return ok && step_ok;
}

int main(int argc, char *argv[]) {
    const char *checkpoint = "gpt2_124M.bin", *state_path = "gpt2_124M_debug_state.bin";
    if (argc == 3) {
        checkpoint = argv[1];
        state_path = argv[2];
    } else if (argc != 1) {
        printf("usage: %s [checkpoint state]\n", argv[0]);
        return 2;
    } else if (access(checkpoint, R_OK) != 0 || access(state_path, R_OK) != 0) {
        checkpoint = "data/tiny_gpt2.bin";
        state_path = "data/tiny_gpt2_debug_state.bin";
        if (access(checkpoint, R_OK) != 0 || access(state_path, R_OK) != 0) {
            printf("Error: no checkpoint and debug state here. Run `make data` first.\n");
            return 1;
        }
    }
    GPT2 model;
    DebugState state;
    gpt2_build_from_checkpoint(&model, checkpoint);
    read_state(&state, &model, state_path);

    int allok = 1;
    for (int step = 0; step < state.steps; step++) { allok = check_step(&model, &state, step) && allok; }
    printf("overall okay: %d\n", allok);

    free_state(&state);
    gpt2_free(&model);
    return allok ? 0 : 1;
}
