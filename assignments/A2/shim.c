// The shim of assignment A2: the student's train_gpt2.c is included here, so that the probes reach its
// functions and its structs through the student's own definitions. A field added to a struct does no
// harm, and a parameter that C converts (const, size_t, ptrdiff_t) is right.
//
// TG_SUBMISSION is the path of the student's file. A part that does not compile against it is left out
// by the build (-DTG_WITHOUT_<part>), which says what differed; the other parts go on working.
// Lines that begin a part are marked "// part: <name>": the build reads them.

#ifndef TESTING
#define TESTING
#endif
#include TG_SUBMISSION

// The file may have left other settings behind.
#pragma GCC visibility push(default)
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A pointer of another type is another signature, not a warning.
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wint-conversion"
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

#define F(i) ((float *)p[i])
#define I(i) ((int *)p[i])
// The redeclaration makes a plain C99 `inline` function an external one, so that it links at any level.
#define TG_PROBE(name, ...)                                                                                  \
    extern __typeof__(name) name;                                                                            \
    void tg_probe_##name(void **p, const int *n);                                                            \
    void tg_probe_##name(void **p, const int *n) { name(__VA_ARGS__); }

// part: encoder_backward
#ifndef TG_WITHOUT_encoder_backward
TG_PROBE(encoder_backward, F(0), F(1), F(2), I(3), n[0], n[1], n[2])
#endif
// part: layernorm_backward
#ifndef TG_WITHOUT_layernorm_backward
TG_PROBE(layernorm_backward, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), n[0], n[1], n[2])
#endif
// part: matmul_backward
#ifndef TG_WITHOUT_matmul_backward
TG_PROBE(matmul_backward, F(0), F(1), F(2), F(3), F(4), F(5), n[0], n[1], n[2], n[3])
#endif
// part: attention_backward
#ifndef TG_WITHOUT_attention_backward
TG_PROBE(attention_backward, F(0), F(1), F(2), F(3), F(4), F(5), n[0], n[1], n[2], n[3])
#endif
// part: gelu_backward
#ifndef TG_WITHOUT_gelu_backward
TG_PROBE(gelu_backward, F(0), F(1), F(2), n[0])
#endif
// part: residual_backward
#ifndef TG_WITHOUT_residual_backward
TG_PROBE(residual_backward, F(0), F(1), F(2), n[0])
#endif
// part: crossentropy_softmax_backward
#ifndef TG_WITHOUT_crossentropy_softmax_backward
TG_PROBE(crossentropy_softmax_backward, F(0), F(1), F(2), I(3), n[0], n[1], n[2], n[3])
#endif

// The forward operators are not graded; their wrappers tell the build whether ours can stand in for them.
// part: encoder_forward
#ifndef TG_WITHOUT_encoder_forward
TG_PROBE(encoder_forward, F(0), I(1), F(2), F(3), n[0], n[1], n[2])
#endif
// part: layernorm_forward
#ifndef TG_WITHOUT_layernorm_forward
TG_PROBE(layernorm_forward, F(0), F(1), F(2), F(3), F(4), F(5), n[0], n[1], n[2])
#endif
// part: matmul_forward
#ifndef TG_WITHOUT_matmul_forward
TG_PROBE(matmul_forward, F(0), F(1), F(2), F(3), n[0], n[1], n[2], n[3])
#endif
// part: attention_forward
#ifndef TG_WITHOUT_attention_forward
TG_PROBE(attention_forward, F(0), F(1), F(2), F(3), n[0], n[1], n[2], n[3])
#endif
// part: gelu_forward
#ifndef TG_WITHOUT_gelu_forward
TG_PROBE(gelu_forward, F(0), F(1), n[0])
#endif
// part: residual_forward
#ifndef TG_WITHOUT_residual_forward
TG_PROBE(residual_forward, F(0), F(1), F(2), n[0])
#endif
// part: softmax_forward
#ifndef TG_WITHOUT_softmax_forward
TG_PROBE(softmax_forward, F(0), F(1), n[0], n[1], n[2], n[3])
#endif
// part: crossentropy_forward
#ifndef TG_WITHOUT_crossentropy_forward
TG_PROBE(crossentropy_forward, F(0), F(1), I(2), n[0], n[1], n[2])
#endif

// part: gpt2_zero_grad
#ifndef TG_WITHOUT_gpt2_zero_grad
extern __typeof__(gpt2_zero_grad) gpt2_zero_grad;
void tg_zero_grad(GPT2 *model);
void tg_zero_grad(GPT2 *model) { gpt2_zero_grad(model); }
#endif
// part: gpt2_backward
#ifndef TG_WITHOUT_gpt2_backward
extern __typeof__(gpt2_backward) gpt2_backward;
void tg_backward(GPT2 *model);
void tg_backward(GPT2 *model) { gpt2_backward(model); }
#endif
// part: gpt2_update
#ifndef TG_WITHOUT_gpt2_update
extern __typeof__(gpt2_update) gpt2_update;
// h: learning rate, beta1, beta2, eps, weight decay
void tg_update(GPT2 *model, const float *h, int t);
void tg_update(GPT2 *model, const float *h, int t) { gpt2_update(model, h[0], h[1], h[2], h[3], h[4], t); }
#endif

// part: model
#ifndef TG_WITHOUT_model
#define TG_PARAMETERS(X)                                                                                     \
    X(wte) X(wpe) X(ln1w) X(ln1b) X(qkvw) X(qkvb) X(attprojw) X(attprojb) X(ln2w) X(ln2b) X(fcw) X(fcb)      \
    X(fcprojw) X(fcprojb) X(lnfw) X(lnfb)
#define TG_ACTIVATIONS(X)                                                                                    \
    X(encoded) X(ln1) X(ln1_mean) X(ln1_rstd) X(qkv) X(atty) X(preatt) X(att) X(attproj) X(residual2)        \
    X(ln2) X(ln2_mean) X(ln2_rstd) X(fch) X(fch_gelu) X(fcproj) X(residual3) X(lnf) X(lnf_mean) X(lnf_rstd)  \
    X(logits) X(probs) X(losses)
#define TG_PARAMETER_OFFSET(name) offsetof(ParameterTensors, name),
#define TG_ACTIVATION_OFFSET(name) offsetof(ActivationTensors, name),
static const size_t tg_parameter_offsets[] = {TG_PARAMETERS(TG_PARAMETER_OFFSET)};
static const size_t tg_activation_offsets[] = {TG_ACTIVATIONS(TG_ACTIVATION_OFFSET)};

static float **tg_field(void *tensors, const size_t *offsets, int i) {
    return (float **)((char *)tensors + offsets[i]);
}

GPT2 *tg_model_new(const char *checkpoint);
GPT2 *tg_model_new(const char *checkpoint) {
    GPT2 *model = calloc(1, sizeof(GPT2));
    gpt2_build_from_checkpoint(model, checkpoint);
    return model;
}

void tg_forward(GPT2 *model, int *inputs, int *targets, int B, int T);
void tg_forward(GPT2 *model, int *inputs, int *targets, int B, int T) {
    gpt2_forward(model, inputs, targets, B, T);
}

float tg_loss(GPT2 *model);
float tg_loss(GPT2 *model) { return model->mean_loss; }

// The i-th tensor of a group: 0 parameters, 1 their gradients, 2 activations, 3 their gradients.
float *tg_tensor(GPT2 *model, int group, int i);
float *tg_tensor(GPT2 *model, int group, int i) {
    switch (group) {
    case 0: return *tg_field(&model->params, tg_parameter_offsets, i);
    case 1: return *tg_field(&model->grads, tg_parameter_offsets, i);
    case 2: return *tg_field(&model->acts, tg_activation_offsets, i);
    default: return *tg_field(&model->grads_acts, tg_activation_offsets, i);
    }
}

// The memory that holds a whole group (4 and 5: AdamW's m and v); NULL where it is not allocated.
float *tg_memory(GPT2 *model, int group);
float *tg_memory(GPT2 *model, int group) {
    float *memory[] = {model->params_memory,     model->grads_memory, model->acts_memory,
                       model->grads_acts_memory, model->m_memory,     model->v_memory};
    return memory[group];
}

// Hands the model gradient buffers of the probe's: each tensor of a group begins where the last ended.
void tg_set_gradients(GPT2 *model, int group, float *memory, const size_t *sizes, int count);
void tg_set_gradients(GPT2 *model, int group, float *memory, const size_t *sizes, int count) {
    void *tensors = group == 1 ? (void *)&model->grads : (void *)&model->grads_acts;
    const size_t *offsets = group == 1 ? tg_parameter_offsets : tg_activation_offsets;
    if (group == 1) { model->grads_memory = memory; } else { model->grads_acts_memory = memory; }
    for (int i = 0; i < count; i++) {
        *tg_field(tensors, offsets, i) = memory;
        memory += sizes[i];
    }
}

// How many elements zeroing has to reach: the student's own count, which an added tensor makes larger.
size_t tg_count(GPT2 *model, int group);
size_t tg_count(GPT2 *model, int group) { return group == 1 ? model->num_parameters : model->num_activations; }

int *tg_tokens(GPT2 *model, int targets);
int *tg_tokens(GPT2 *model, int targets) { return targets ? model->targets : model->inputs; }

// Zeroing through the student's struct, for the operators that are interposed under gpt2_backward.
void tg_clear_gradients(void *opaque);
void tg_clear_gradients(void *opaque) {
    GPT2 *model = opaque;
    if (model->grads_memory != NULL) { memset(model->grads_memory, 0, model->num_parameters * sizeof(float)); }
    if (model->grads_acts_memory != NULL) {
        memset(model->grads_acts_memory, 0, model->num_activations * sizeof(float));
    }
}
#endif

#if !defined(TG_WITHOUT_model) && !defined(TG_WITHOUT_gpt2_backward)
// gpt2_backward; the number of the signal that stopped it, or 0 (crash.c)
int tg_guarded(void (*function)(void *), void *argument);
static void tg_call_backward(void *model) { gpt2_backward(model); }
int tg_guarded_backward(GPT2 *model);
int tg_guarded_backward(GPT2 *model) { return tg_guarded(tg_call_backward, model); }
#endif
