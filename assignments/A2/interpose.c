// The reference's operators, interposed under the student's gpt2_backward, with a record of its calls.
//
// The solved file is included with its operators renamed; under their own names stand recorders that call
// them. Loaded first and with global scope, these take the place of the student's operators, so that the
// wiring is judged even where the operators are wrong. Only the recorders are exported, and the linker
// drops what they do not use: nothing of the reference's gpt2_backward is in the library.
// -DTG_OWN_<name> leaves a function to the student: one that is missing under its name, or is declared otherwise.

#define TESTING
#define encoder_forward tg_right_encoder_forward
#define layernorm_forward tg_right_layernorm_forward
#define matmul_forward tg_right_matmul_forward
#define attention_forward tg_right_attention_forward
#define gelu_forward tg_right_gelu_forward
#define residual_forward tg_right_residual_forward
#define softmax_forward tg_right_softmax_forward
#define crossentropy_forward tg_right_crossentropy_forward
#define encoder_backward tg_right_encoder_backward
#define layernorm_backward tg_right_layernorm_backward
#define matmul_backward tg_right_matmul_backward
#define attention_backward tg_right_attention_backward
#define gelu_backward tg_right_gelu_backward
#define residual_backward tg_right_residual_backward
#define crossentropy_softmax_backward tg_right_crossentropy_softmax_backward
#define gpt2_zero_grad tg_right_gpt2_zero_grad
#include TG_REFERENCE
#undef encoder_forward
#undef layernorm_forward
#undef matmul_forward
#undef attention_forward
#undef gelu_forward
#undef residual_forward
#undef softmax_forward
#undef crossentropy_forward
#undef encoder_backward
#undef layernorm_backward
#undef matmul_backward
#undef attention_backward
#undef gelu_backward
#undef residual_backward
#undef crossentropy_softmax_backward
#undef gpt2_zero_grad

#include <stdint.h>

#define TG_EXPORT __attribute__((visibility("default")))
#define TG_MOST_CALLS 4096
#define TG_MOST_POINTERS 8
#define TG_MOST_SIZES 4

// One call as it was made; the driver reads these through ctypes and names the pointers.
typedef struct {
    int32_t function;
    int32_t sizes[TG_MOST_SIZES];
    int32_t padding;
    uint64_t pointers[TG_MOST_POINTERS];
} Call;

TG_EXPORT Call tg_calls[TG_MOST_CALLS];
TG_EXPORT int tg_call_count;
TG_EXPORT int tg_recording;
TG_EXPORT void (*tg_clear)(void *model); // zeroes the gradients through the student's own struct

enum { ENCODER, LAYERNORM, MATMUL, ATTENTION, GELU, RESIDUAL, CROSSENTROPY, ZERO_GRAD };

static void record(int function, const void **pointers, int pointer_count, const int *sizes, int size_count) {
    if (!tg_recording || tg_call_count >= TG_MOST_CALLS) { return; }
    Call *call = &tg_calls[tg_call_count++];
    call->function = function;
    for (int i = 0; i < pointer_count; i++) { call->pointers[i] = (uint64_t)(uintptr_t)pointers[i]; }
    for (int i = 0; i < size_count; i++) { call->sizes[i] = sizes[i]; }
}

#define P(...) (const void *[]){__VA_ARGS__}, (int)(sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *))
#define N(...) (const int[]){__VA_ARGS__}, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

// Forward operators: interposed too, so that a slip there does not cost the wiring's row.
#ifndef TG_OWN_encoder_forward
TG_EXPORT void encoder_forward(float *out, int *inp, float *wte, float *wpe, int B, int T, int C) {
    tg_right_encoder_forward(out, inp, wte, wpe, B, T, C);
}
#endif

#ifndef TG_OWN_layernorm_forward
TG_EXPORT void layernorm_forward(float *out, float *mean, float *rstd, float *inp, float *weight, float *bias,
                                 int B, int T, int C) {
    tg_right_layernorm_forward(out, mean, rstd, inp, weight, bias, B, T, C);
}
#endif

#ifndef TG_OWN_matmul_forward
TG_EXPORT void matmul_forward(float *out, const float *inp, const float *weight, const float *bias, int B,
                              int T, int C, int OC) {
    tg_right_matmul_forward(out, (float *)inp, (float *)weight, (float *)bias, B, T, C, OC);
}
#endif

#ifndef TG_OWN_attention_forward
TG_EXPORT void attention_forward(float *out, float *preatt, float *att, float *inp, int B, int T, int C,
                                 int NH) {
    tg_right_attention_forward(out, preatt, att, inp, B, T, C, NH);
}
#endif

#ifndef TG_OWN_gelu_forward
TG_EXPORT void gelu_forward(float *out, float *inp, int N_) { tg_right_gelu_forward(out, inp, N_); }
#endif

#ifndef TG_OWN_residual_forward
TG_EXPORT void residual_forward(float *out, float *inp1, float *inp2, int N_) {
    tg_right_residual_forward(out, inp1, inp2, N_);
}
#endif

#ifndef TG_OWN_softmax_forward
TG_EXPORT void softmax_forward(float *probs, float *logits, int B, int T, int V, int Vp) {
    tg_right_softmax_forward(probs, logits, B, T, V, Vp);
}
#endif

#ifndef TG_OWN_crossentropy_forward
TG_EXPORT void crossentropy_forward(float *losses, float *probs, int *targets, int B, int T, int Vp) {
    tg_right_crossentropy_forward(losses, probs, targets, B, T, Vp);
}
#endif

#ifndef TG_OWN_encoder_backward
TG_EXPORT void encoder_backward(float *dwte, float *dwpe, float *dout, int *inp, int B, int T, int C) {
    record(ENCODER, P(dwte, dwpe, dout, inp), N(B, T, C));
    tg_right_encoder_backward(dwte, dwpe, dout, inp, B, T, C);
}
#endif

#ifndef TG_OWN_layernorm_backward
TG_EXPORT void layernorm_backward(float *dinp, float *dweight, float *dbias, float *dout, float *inp,
                                  float *weight, float *mean, float *rstd, int B, int T, int C) {
    record(LAYERNORM, P(dinp, dweight, dbias, dout, inp, weight, mean, rstd), N(B, T, C));
    tg_right_layernorm_backward(dinp, dweight, dbias, dout, inp, weight, mean, rstd, B, T, C);
}
#endif

#ifndef TG_OWN_matmul_backward
TG_EXPORT void matmul_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                               const float *weight, int B, int T, int C, int OC) {
    record(MATMUL, P(dinp, dweight, dbias, dout, inp, weight), N(B, T, C, OC));
    tg_right_matmul_backward(dinp, dweight, dbias, (float *)dout, (float *)inp, (float *)weight, B, T, C, OC);
}
#endif

#ifndef TG_OWN_attention_backward
TG_EXPORT void attention_backward(float *dinp, float *dpreatt, float *datt, float *dout, float *inp,
                                  float *att, int B, int T, int C, int NH) {
    record(ATTENTION, P(dinp, dpreatt, datt, dout, inp, att), N(B, T, C, NH));
    tg_right_attention_backward(dinp, dpreatt, datt, dout, inp, att, B, T, C, NH);
}
#endif

#ifndef TG_OWN_gelu_backward
TG_EXPORT void gelu_backward(float *dinp, float *inp, float *dout, int N_) {
    record(GELU, P(dinp, inp, dout), N(N_));
    tg_right_gelu_backward(dinp, inp, dout, N_);
}
#endif

#ifndef TG_OWN_residual_backward
TG_EXPORT void residual_backward(float *dinp1, float *dinp2, float *dout, int N_) {
    record(RESIDUAL, P(dinp1, dinp2, dout), N(N_));
    tg_right_residual_backward(dinp1, dinp2, dout, N_);
}
#endif

#ifndef TG_OWN_crossentropy_softmax_backward
TG_EXPORT void crossentropy_softmax_backward(float *dlogits, float *dlosses, float *probs, int *targets, int B,
                                             int T, int V, int Vp) {
    record(CROSSENTROPY, P(dlogits, dlosses, probs, targets), N(B, T, V, Vp));
    tg_right_crossentropy_softmax_backward(dlogits, dlosses, probs, targets, B, T, V, Vp);
}
#endif

#ifndef TG_OWN_gpt2_zero_grad
TG_EXPORT void gpt2_zero_grad(void *model) {
    if (tg_clear != NULL) { tg_clear(model); }
}
#endif
