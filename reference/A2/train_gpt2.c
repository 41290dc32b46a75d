/*
GPT-2 in C: the forward pass, the backward pass and AdamW, all in float32 on the CPU.

The file reads from top to bottom:
  1. operators   each a forward and a backward on plain arrays; none of them knows the model
  2. the model   which tensors it has, how they lie in memory, and gpt2_forward/backward/update
  3. main        a short training run with a sample of what the model writes

Letters used throughout:
  B batch size, T sequence length, C channels, L layers, NH attention heads, HS = C/NH head size,
  V vocabulary size, Vp the same padded to a round number, OC output channels of a matmul.
A shape in a comment, such as [B, T, C], is row-major: the last index is the one that moves by 1.

A backward function gets the gradient of the loss with respect to its forward's outputs (dout) and
ADDS to the gradients of its forward's inputs (dinp, dweight, ...). It adds because a tensor may be
used in several places, and the gradient is the sum over its uses.
*/
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE // glibc hides clock_gettime and M_PI under -std=c11 without this
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "llmc/utils.h"      // fopenCheck, freadCheck, mallocCheck, tokenCheck, ...
#include "llmc/tokenizer.h"  // tokenizer_init, tokenizer_decode, safe_printf, ...
#include "llmc/dataloader.h" // dataloader_init, dataloader_next_batch, ...

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#if !defined(_OPENMP) && defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunknown-pragmas" // `#pragma omp` without OpenMP is a plain loop
#endif

// ----------------------------------------------------------------------------
// operators

// out[b,t,:] = wte[inp[b,t],:] + wpe[t,:]
// out [B, T, C], inp [B, T] token ids, wte [V, C], wpe [maxT, C]
void encoder_forward(float* out, int* inp, float* wte, float* wpe, int B, int T, int C) {
    for (int bt = 0; bt < B * T; bt++) {
        float* y = out + (size_t)bt * C;
        const float* token = wte + (size_t)inp[bt] * C;
        const float* position = wpe + (size_t)(bt % T) * C;
        for (int c = 0; c < C; c++) { y[c] = token[c] + position[c]; }
    }
}

// dwte [V, C], dwpe [maxT, C], dout [B, T, C], inp [B, T]
void encoder_backward(float* dwte, float* dwpe, float* dout, int* inp, int B, int T, int C) {
    // TODO (A2): encoder_backward
    // HINT: a sum passes its gradient on unchanged to both terms. A token may occur several times
    // HINT: in the batch, and a position occurs in every row of it: whose gradients add up?
    //| (void)dwte; (void)dwpe; (void)dout; (void)inp; (void)B; (void)T; (void)C;
    // BEGIN SOLUTION
    // serial: two threads could meet in the row of a token that occurs twice
    for (int bt = 0; bt < B * T; bt++) {
        const float* dy = dout + (size_t)bt * C;
        float* dtoken = dwte + (size_t)inp[bt] * C;
        float* dposition = dwpe + (size_t)(bt % T) * C;
        for (int c = 0; c < C; c++) {
            dtoken[c] += dy[c];
            dposition[c] += dy[c];
        }
    }
    // END SOLUTION
}

// each row of C numbers is brought to mean 0 and variance 1, then scaled and shifted:
// xhat = (x - mean) * rstd, out = xhat * weight + bias, with rstd = 1 / sqrt(var + 1e-5)
// out, inp [B, T, C]; mean, rstd [B, T] are kept for the backward pass; weight, bias [C]
void layernorm_forward(float* out, float* mean, float* rstd, float* inp, float* weight, float* bias,
                       int B, int T, int C) {
    for (int bt = 0; bt < B * T; bt++) {
        const float* x = inp + (size_t)bt * C;
        float* y = out + (size_t)bt * C;
        float sum = 0.0f;
        for (int c = 0; c < C; c++) { sum += x[c]; }
        float m = sum / C;
        float squares = 0.0f; // of the centred values: E[x^2] - m^2 would cancel badly in float
        for (int c = 0; c < C; c++) { squares += (x[c] - m) * (x[c] - m); }
        float r = 1.0f / sqrtf(squares / C + 1e-5f);
        for (int c = 0; c < C; c++) { y[c] = (x[c] - m) * r * weight[c] + bias[c]; }
        mean[bt] = m;
        rstd[bt] = r;
    }
}

// dinp, dout, inp [B, T, C]; dweight, dbias, weight [C]; mean, rstd [B, T]
void layernorm_backward(float* dinp, float* dweight, float* dbias, float* dout, float* inp, float* weight,
                        float* mean, float* rstd, int B, int T, int C) {
    // TODO (A2): layernorm_backward
    // HINT: with dxhat = dout * weight, each x acts in three ways: through its own xhat, through the
    // HINT: mean of its row and through the variance of its row. The last two give a reduction over
    // HINT: C each, so you need two passes over the row: first the reductions, then dinp.
    //| (void)dinp; (void)dweight; (void)dbias; (void)dout; (void)inp; (void)weight;
    //| (void)mean; (void)rstd; (void)B; (void)T; (void)C;
    // BEGIN SOLUTION
    // serial: all rows add to the same dweight and dbias
    for (int bt = 0; bt < B * T; bt++) {
        const float* dy = dout + (size_t)bt * C;
        const float* x = inp + (size_t)bt * C;
        float* dx = dinp + (size_t)bt * C;
        float m = mean[bt], r = rstd[bt];

        // the row's means of dxhat (the path through the mean) and of dxhat * xhat (the variance)
        float dxhat_mean = 0.0f, dxhat_xhat_mean = 0.0f;
        for (int c = 0; c < C; c++) {
            float dxhat = dy[c] * weight[c];
            dxhat_mean += dxhat;
            dxhat_xhat_mean += dxhat * (x[c] - m) * r;
        }
        dxhat_mean /= C;
        dxhat_xhat_mean /= C;

        for (int c = 0; c < C; c++) {
            float xhat = (x[c] - m) * r;
            dx[c] += r * (dy[c] * weight[c] - dxhat_mean - xhat * dxhat_xhat_mean);
            dweight[c] += dy[c] * xhat;
            dbias[c] += dy[c];
        }
    }
    // END SOLUTION
}

// out[b,t,o] = bias[o] + sum over c of inp[b,t,c] * weight[o,c]
// out [B, T, OC], inp [B, T, C], weight [OC, C], bias [OC] or NULL
void matmul_forward_naive(float* out, const float* inp, const float* weight, const float* bias,
                          int B, int T, int C, int OC) {
    #pragma omp parallel for
    for (int bt = 0; bt < B * T; bt++) {
        const float* x = inp + (size_t)bt * C;
        for (int o = 0; o < OC; o++) {
            const float* w = weight + (size_t)o * C;
            float y = bias ? bias[o] : 0.0f;
            for (int c = 0; c < C; c++) { y += x[c] * w[c]; }
            out[(size_t)bt * OC + o] = y;
        }
    }
}

// the same, but four rows of inp at a time: a row of weights is then fetched once for all four, and
// the four sums do not wait for each other. What is left over at the end takes the naive way.
void matmul_forward(float* out, const float* inp, const float* weight, const float* bias,
                    int B, int T, int C, int OC) {
    int rows = B * T, left = rows % 4;
    #pragma omp parallel for
    for (int bt = 0; bt < rows - left; bt += 4) {
        const float* x0 = inp + (size_t)bt * C;
        const float *x1 = x0 + C, *x2 = x1 + C, *x3 = x2 + C;
        float* y = out + (size_t)bt * OC;
        for (int o = 0; o < OC; o++) {
            const float* w = weight + (size_t)o * C;
            float start = bias ? bias[o] : 0.0f;
            float y0 = start, y1 = start, y2 = start, y3 = start;
            for (int c = 0; c < C; c++) {
                y0 += x0[c] * w[c];
                y1 += x1[c] * w[c];
                y2 += x2[c] * w[c];
                y3 += x3[c] * w[c];
            }
            y[o] = y0;
            y[(size_t)OC + o] = y1;
            y[(size_t)OC * 2 + o] = y2;
            y[(size_t)OC * 3 + o] = y3;
        }
    }
    size_t done = (size_t)(rows - left);
    matmul_forward_naive(out + done * OC, inp + done * C, weight, bias, 1, left, C, OC);
}

// dinp, inp [B, T, C]; dweight, weight [OC, C]; dbias [OC] or NULL; dout [B, T, OC]
void matmul_backward(float* dinp, float* dweight, float* dbias,
                     const float* dout, const float* inp, const float* weight,
                     int B, int T, int C, int OC) {
    // TODO (A2): matmul_backward
    // HINT: dinp = dout . weight, dweight = dout^T . inp, dbias = the sum of dout over B and T.
    // HINT: dbias is NULL where the forward had no bias. If you use OpenMP: which loop may be
    // HINT: parallel without two threads adding to the same number? It is not the same loop for
    // HINT: dinp as for dweight.
    //| (void)dinp; (void)dweight; (void)dbias; (void)dout; (void)inp; (void)weight;
    //| (void)B; (void)T; (void)C; (void)OC;
    // BEGIN SOLUTION
    // into inp: a thread owns a row of dinp
    #pragma omp parallel for
    for (int bt = 0; bt < B * T; bt++) {
        const float* dy = dout + (size_t)bt * OC;
        float* dx = dinp + (size_t)bt * C;
        for (int o = 0; o < OC; o++) {
            const float* w = weight + (size_t)o * C;
            for (int c = 0; c < C; c++) { dx[c] += dy[o] * w[c]; }
        }
    }
    // into weight and bias: a thread owns an output channel
    #pragma omp parallel for
    for (int o = 0; o < OC; o++) {
        float* dw = dweight + (size_t)o * C;
        float db = 0.0f;
        for (int bt = 0; bt < B * T; bt++) {
            const float* x = inp + (size_t)bt * C;
            float dy = dout[(size_t)bt * OC + o];
            for (int c = 0; c < C; c++) { dw[c] += dy * x[c]; }
            db += dy;
        }
        if (dbias) { dbias[o] += db; }
    }
    // END SOLUTION
}

// causal self-attention: each position of each head takes the softmax-weighted mean of the values
// at its own and earlier positions
//   preatt[t,t2] = (q[t] . k[t2]) / sqrt(HS) for t2 <= t, att = softmax over t2, out[t] = att[t,:] . v
// out [B, T, C] (the heads side by side), preatt, att [B, NH, T, T] are kept for the backward pass,
// inp [B, T, 3C]: q, k and v one after the other, each [C] = [NH, HS]
void attention_forward(float* out, float* preatt, float* att, float* inp, int B, int T, int C, int NH) {
    int HS = C / NH;
    float scale = 1.0f / sqrtf((float)HS);

    #pragma omp parallel for collapse(2)
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            // q, k, v of position t begin at these plus t * 3C
            const float* q = inp + (size_t)b * T * 3 * C + (size_t)h * HS;
            const float* k = q + C;
            const float* v = k + C;
            for (int t = 0; t < T; t++) {
                const float* qt = q + (size_t)t * 3 * C;
                float* score = preatt + ((size_t)(b * NH + h) * T + t) * T;
                float* share = att + ((size_t)(b * NH + h) * T + t) * T;
                float* y = out + (size_t)(b * T + t) * C + (size_t)h * HS;

                float largest = 0.0f;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float* kt2 = k + (size_t)t2 * 3 * C;
                    float dot = 0.0f;
                    for (int i = 0; i < HS; i++) { dot += qt[i] * kt2[i]; }
                    score[t2] = dot * scale;
                    if (t2 == 0 || score[t2] > largest) { largest = score[t2]; }
                }
                float sum = 0.0f;
                for (int t2 = 0; t2 <= t; t2++) {
                    share[t2] = expf(score[t2] - largest); // at most 1: no overflow
                    sum += share[t2];
                }
                for (int t2 = 0; t2 <= t; t2++) { share[t2] /= sum; }
                for (int t2 = t + 1; t2 < T; t2++) { share[t2] = 0.0f; } // the future has no share

                for (int i = 0; i < HS; i++) { y[i] = 0.0f; }
                for (int t2 = 0; t2 <= t; t2++) {
                    const float* vt2 = v + (size_t)t2 * 3 * C;
                    for (int i = 0; i < HS; i++) { y[i] += share[t2] * vt2[i]; }
                }
            }
        }
    }
}

// dinp, inp [B, T, 3C]; dpreatt, datt, att [B, NH, T, T]; dout [B, T, C]
void attention_backward(float* dinp, float* dpreatt, float* datt, float* dout, float* inp, float* att,
                        int B, int T, int C, int NH) {
    // TODO (A2): attention_backward
    // HINT: walk the forward backwards for each (b, h, t): out to datt and dv, the softmax from datt to
    // HINT: dpreatt, then the scaled dot product from dpreatt to dq and dk. Every score of a row
    // HINT: acts on every share of it, so the softmax needs a sum over the row. Only t2 <= t takes part.
    //| (void)dinp; (void)dpreatt; (void)datt; (void)dout; (void)inp; (void)att;
    //| (void)B; (void)T; (void)C; (void)NH;
    // BEGIN SOLUTION
    int HS = C / NH;
    float scale = 1.0f / sqrtf((float)HS);

    // a thread owns a head of one b: dk and dv of t2 are added to by every later t, but by no other head
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            size_t head = (size_t)b * T * 3 * C + (size_t)h * HS; // where q of position 0 begins
            const float *q = inp + head, *k = q + C, *v = k + C;
            float *dq = dinp + head, *dk = dq + C, *dv = dk + C;
            for (int t = 0; t < T; t++) {
                size_t row = ((size_t)(b * NH + h) * T + t) * T;
                const float* share = att + row;
                float* dshare = datt + row;
                float* dscore = dpreatt + row;
                const float* dy = dout + (size_t)(b * T + t) * C + (size_t)h * HS;
                size_t at_t = (size_t)t * 3 * C;

                // out[t] = sum of share[t2] * v[t2]
                for (int t2 = 0; t2 <= t; t2++) {
                    size_t at_t2 = (size_t)t2 * 3 * C;
                    float dot = 0.0f;
                    for (int i = 0; i < HS; i++) {
                        dot += v[at_t2 + i] * dy[i];
                        dv[at_t2 + i] += share[t2] * dy[i];
                    }
                    dshare[t2] += dot;
                }
                // softmax: the shares sum to 1, so what pushes all of them alike (the weighted mean
                // of dshare) has no effect on the scores
                float mean = 0.0f;
                for (int t2 = 0; t2 <= t; t2++) { mean += share[t2] * dshare[t2]; }
                for (int t2 = 0; t2 <= t; t2++) { dscore[t2] += share[t2] * (dshare[t2] - mean); }
                // score[t2] = scale * q[t] . k[t2]
                for (int t2 = 0; t2 <= t; t2++) {
                    size_t at_t2 = (size_t)t2 * 3 * C;
                    float d = dscore[t2] * scale;
                    for (int i = 0; i < HS; i++) {
                        dq[at_t + i] += d * k[at_t2 + i];
                        dk[at_t2 + i] += d * q[at_t + i];
                    }
                }
            }
        }
    }
    // END SOLUTION
}

// the tanh form of GELU: out = x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3)
#define GELU_SCALING_FACTOR 0.79788456080286536f // sqrt(2/pi)
#define GELU_CUBIC 0.044715f

// out, inp [N]
void gelu_forward(float* out, float* inp, int N) {
    #pragma omp parallel for
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float u = GELU_SCALING_FACTOR * (x + GELU_CUBIC * x * x * x);
        out[i] = 0.5f * x * (1.0f + tanhf(u));
    }
}

// dinp, inp, dout [N]
void gelu_backward(float* dinp, float* inp, float* dout, int N) {
    // TODO (A2): gelu_backward
    // HINT: product rule on x/2 and (1 + tanh(u)), chain rule on u(x); tanh'(u) = 1 - tanh(u)^2.
    // HINT: coshf(u) overflows from |u| = 89 on, that is from |x| = 13: do without it.
    //| (void)dinp; (void)inp; (void)dout; (void)N;
    // BEGIN SOLUTION
    #pragma omp parallel for
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float th = tanhf(GELU_SCALING_FACTOR * (x + GELU_CUBIC * x * x * x));
        float du = GELU_SCALING_FACTOR * (1.0f + 3.0f * GELU_CUBIC * x * x);
        // 1 - th^2 and never 1/cosh^2: -Ofast may turn the overflow of cosh into a NaN
        float slope = 0.5f * (1.0f + th) + 0.5f * x * (1.0f - th * th) * du;
        dinp[i] += slope * dout[i];
    }
    // END SOLUTION
}

// out = inp1 + inp2, all [N]
void residual_forward(float* out, float* inp1, float* inp2, int N) {
    for (int i = 0; i < N; i++) { out[i] = inp1[i] + inp2[i]; }
}

// dinp1, dinp2, dout [N]
void residual_backward(float* dinp1, float* dinp2, float* dout, int N) {
    // TODO (A2): residual_backward
    // HINT: both inputs of a sum get its gradient; add it to what is already there.
    //| (void)dinp1; (void)dinp2; (void)dout; (void)N;
    // BEGIN SOLUTION
    for (int i = 0; i < N; i++) {
        dinp1[i] += dout[i];
        dinp2[i] += dout[i];
    }
    // END SOLUTION
}

// probs, logits [B, T, Vp]; the columns from V on are padding: no token has them, their probability is 0
void softmax_forward(float* probs, float* logits, int B, int T, int V, int Vp) {
    #pragma omp parallel for
    for (int bt = 0; bt < B * T; bt++) {
        const float* z = logits + (size_t)bt * Vp;
        float* p = probs + (size_t)bt * Vp;
        float largest = z[0];
        for (int v = 1; v < V; v++) { if (z[v] > largest) { largest = z[v]; } }
        float sum = 0.0f;
        for (int v = 0; v < V; v++) {
            p[v] = expf(z[v] - largest);
            sum += p[v];
        }
        for (int v = 0; v < V; v++) { p[v] /= sum; }
        for (int v = V; v < Vp; v++) { p[v] = 0.0f; }
    }
}

// losses[b,t] = -log(probs[b,t,targets[b,t]])
// losses [B, T], probs [B, T, Vp], targets [B, T]
void crossentropy_forward(float* losses, float* probs, int* targets, int B, int T, int Vp) {
    for (int bt = 0; bt < B * T; bt++) { losses[bt] = -logf(probs[(size_t)bt * Vp + targets[bt]]); }
}

// backward through the cross-entropy and the softmax in one step
// dlogits, probs [B, T, Vp]; dlosses, targets [B, T]
void crossentropy_softmax_backward(float* dlogits, float* dlosses, float* probs, int* targets,
                                   int B, int T, int V, int Vp) {
    // TODO (A2): crossentropy_softmax_backward
    // HINT: for one position, dloss/dlogits = probs - onehot(target): derive it once on paper.
    // HINT: dlosses scales it. A row is Vp long, but only its first V columns are real.
    //| (void)dlogits; (void)dlosses; (void)probs; (void)targets; (void)B; (void)T; (void)V; (void)Vp;
    // BEGIN SOLUTION
    #pragma omp parallel for
    for (int bt = 0; bt < B * T; bt++) {
        const float* p = probs + (size_t)bt * Vp;
        float* dz = dlogits + (size_t)bt * Vp;
        for (int v = 0; v < V; v++) {
            float onehot = v == targets[bt] ? 1.0f : 0.0f;
            dz[v] += (p[v] - onehot) * dlosses[bt];
        }
    }
    // END SOLUTION
}

// ----------------------------------------------------------------------------
// the model

typedef struct {
    int max_seq_len;       // maxT: the longest sequence that wpe has a row for
    int vocab_size;        // V
    int padded_vocab_size; // Vp
    int num_layers;        // L
    int num_heads;         // NH
    int channels;          // C
} GPT2Config;

// All parameters lie in one block of memory, in this order; each pointer is the start of its tensor.
#define NUM_PARAMETER_TENSORS 16
typedef struct {
    float* wte;      // [Vp, C]
    float* wpe;      // [maxT, C]
    float* ln1w;     // [L, C]
    float* ln1b;     // [L, C]
    float* qkvw;     // [L, 3C, C]
    float* qkvb;     // [L, 3C]
    float* attprojw; // [L, C, C]
    float* attprojb; // [L, C]
    float* ln2w;     // [L, C]
    float* ln2b;     // [L, C]
    float* fcw;      // [L, 4C, C]
    float* fcb;      // [L, 4C]
    float* fcprojw;  // [L, C, 4C]
    float* fcprojb;  // [L, C]
    float* lnfw;     // [C]
    float* lnfb;     // [C]
} ParameterTensors;

void fill_in_parameter_sizes(size_t* param_sizes, GPT2Config config) {
    size_t maxT = config.max_seq_len, Vp = config.padded_vocab_size;
    size_t L = config.num_layers, C = config.channels;
    const size_t sizes[NUM_PARAMETER_TENSORS] = {
        Vp * C, maxT * C,             // wte, wpe
        L * C, L * C,                 // ln1w, ln1b
        L * 3 * C * C, L * 3 * C,     // qkvw, qkvb
        L * C * C, L * C,             // attprojw, attprojb
        L * C, L * C,                 // ln2w, ln2b
        L * 4 * C * C, L * 4 * C,     // fcw, fcb
        L * C * 4 * C, L * C,         // fcprojw, fcprojb
        C, C,                         // lnfw, lnfb
    };
    memcpy(param_sizes, sizes, sizeof(sizes));
}

// one block of floats for n tensors that follow each other; *slots[i] becomes the start of tensor i
static float* malloc_and_point(float** slots[], const size_t* sizes, int n) {
    size_t total = 0;
    for (int i = 0; i < n; i++) { total += sizes[i]; }
    float* memory = (float*)mallocCheck(total * sizeof(float));
    float* next = memory;
    for (int i = 0; i < n; i++) {
        *slots[i] = next;
        next += sizes[i];
    }
    return memory;
}

float* malloc_and_point_parameters(ParameterTensors* params, size_t* param_sizes) {
    ParameterTensors* p = params;
    float** slots[NUM_PARAMETER_TENSORS] = {
        &p->wte, &p->wpe,
        &p->ln1w, &p->ln1b, &p->qkvw, &p->qkvb, &p->attprojw, &p->attprojb,
        &p->ln2w, &p->ln2b, &p->fcw, &p->fcb, &p->fcprojw, &p->fcprojb,
        &p->lnfw, &p->lnfb,
    };
    return malloc_and_point(slots, param_sizes, NUM_PARAMETER_TENSORS);
}

// All activations likewise, in the order in which the forward pass makes them within a layer.
#define NUM_ACTIVATION_TENSORS 23
typedef struct {
    float* encoded;   // [B, T, C]
    float* ln1;       // [L, B, T, C]
    float* ln1_mean;  // [L, B, T]
    float* ln1_rstd;  // [L, B, T]
    float* qkv;       // [L, B, T, 3C]
    float* atty;      // [L, B, T, C]
    float* preatt;    // [L, B, NH, T, T]
    float* att;       // [L, B, NH, T, T]
    float* attproj;   // [L, B, T, C]
    float* residual2; // [L, B, T, C]
    float* ln2;       // [L, B, T, C]
    float* ln2_mean;  // [L, B, T]
    float* ln2_rstd;  // [L, B, T]
    float* fch;       // [L, B, T, 4C]
    float* fch_gelu;  // [L, B, T, 4C]
    float* fcproj;    // [L, B, T, C]
    float* residual3; // [L, B, T, C]
    float* lnf;       // [B, T, C]
    float* lnf_mean;  // [B, T]
    float* lnf_rstd;  // [B, T]
    float* logits;    // [B, T, Vp]
    float* probs;     // [B, T, Vp]
    float* losses;    // [B, T]
} ActivationTensors;

void fill_in_activation_sizes(size_t* act_sizes, GPT2Config config, int B, int T) {
    size_t L = config.num_layers, NH = config.num_heads, C = config.channels;
    size_t Vp = config.padded_vocab_size;
    size_t BT = (size_t)B * T;
    const size_t sizes[NUM_ACTIVATION_TENSORS] = {
        BT * C,                                     // encoded
        L * BT * C, L * BT, L * BT,                 // ln1, ln1_mean, ln1_rstd
        L * BT * 3 * C, L * BT * C,                 // qkv, atty
        L * BT * NH * T, L * BT * NH * T,           // preatt, att
        L * BT * C, L * BT * C,                     // attproj, residual2
        L * BT * C, L * BT, L * BT,                 // ln2, ln2_mean, ln2_rstd
        L * BT * 4 * C, L * BT * 4 * C, L * BT * C, // fch, fch_gelu, fcproj
        L * BT * C,                                 // residual3
        BT * C, BT, BT,                             // lnf, lnf_mean, lnf_rstd
        BT * Vp, BT * Vp, BT,                       // logits, probs, losses
    };
    memcpy(act_sizes, sizes, sizeof(sizes));
}

float* malloc_and_point_activations(ActivationTensors* acts, size_t* act_sizes) {
    ActivationTensors* a = acts;
    float** slots[NUM_ACTIVATION_TENSORS] = {
        &a->encoded,
        &a->ln1, &a->ln1_mean, &a->ln1_rstd, &a->qkv, &a->atty, &a->preatt, &a->att, &a->attproj, &a->residual2,
        &a->ln2, &a->ln2_mean, &a->ln2_rstd, &a->fch, &a->fch_gelu, &a->fcproj, &a->residual3,
        &a->lnf, &a->lnf_mean, &a->lnf_rstd, &a->logits, &a->probs, &a->losses,
    };
    return malloc_and_point(slots, act_sizes, NUM_ACTIVATION_TENSORS);
}

typedef struct {
    GPT2Config config;
    // parameters
    ParameterTensors params;
    size_t param_sizes[NUM_PARAMETER_TENSORS];
    float* params_memory;
    size_t num_parameters;
    // their gradients, and AdamW's two moments; NULL until first needed
    ParameterTensors grads;
    float* grads_memory;
    float* m_memory;
    float* v_memory;
    // activations, NULL until the first forward pass, and their gradients, NULL until the first backward
    ActivationTensors acts;
    size_t act_sizes[NUM_ACTIVATION_TENSORS];
    float* acts_memory;
    size_t num_activations;
    ActivationTensors grads_acts;
    float* grads_acts_memory;
    // the batch of the latest forward pass
    int batch_size;  // B
    int seq_len;     // T
    int* inputs;     // [B, T]
    int* targets;    // [B, T]
    float mean_loss; // the mean of acts.losses, or -1.0f if there were no targets
} GPT2;

// The same tensors as seen from layer l: every per-layer pointer moved on to the part of that layer.
static ParameterTensors parameters_of_layer(ParameterTensors p, size_t l, size_t C) {
    p.ln1w += l * C;             p.ln1b += l * C;
    p.qkvw += l * 3 * C * C;     p.qkvb += l * 3 * C;
    p.attprojw += l * C * C;     p.attprojb += l * C;
    p.ln2w += l * C;             p.ln2b += l * C;
    p.fcw += l * 4 * C * C;      p.fcb += l * 4 * C;
    p.fcprojw += l * C * 4 * C;  p.fcprojb += l * C;
    return p;
}

static ActivationTensors activations_of_layer(ActivationTensors a, size_t l, size_t B, size_t T, size_t C, size_t NH) {
    size_t BT = B * T;
    a.ln1 += l * BT * C;         a.ln1_mean += l * BT;        a.ln1_rstd += l * BT;
    a.qkv += l * BT * 3 * C;     a.atty += l * BT * C;
    a.preatt += l * BT * NH * T; a.att += l * BT * NH * T;
    a.attproj += l * BT * C;     a.residual2 += l * BT * C;
    a.ln2 += l * BT * C;         a.ln2_mean += l * BT;        a.ln2_rstd += l * BT;
    a.fch += l * BT * 4 * C;     a.fch_gelu += l * BT * 4 * C;
    a.fcproj += l * BT * C;      a.residual3 += l * BT * C;
    return a;
}

// the residual stream that enters layer l: the embeddings, or what the layer below hands up
static float* residual_into_layer(ActivationTensors a, size_t l, size_t BTC) {
    return l == 0 ? a.encoded : a.residual3 + (l - 1) * BTC;
}

// A checkpoint is 256 ints of header, then all parameters as float32 in the order of ParameterTensors.
void gpt2_build_from_checkpoint(GPT2 *model, const char* checkpoint_path) {
    FILE* file = fopenCheck(checkpoint_path, "rb");
    int header[256];
    freadCheck(header, sizeof(int), 256, file);
    if (header[0] != 20240326) { printf("Bad magic model file: %s\n", checkpoint_path); exit(1); }
    if (header[1] != 3) { printf("Bad version in model file: %s has %d, not 3\n", checkpoint_path, header[1]); exit(1); }

    memset(model, 0, sizeof(*model)); // all lazily allocated memory NULL, no batch yet
    model->mean_loss = -1.0f;
    GPT2Config* config = &model->config;
    config->max_seq_len = header[2];
    config->vocab_size = header[3];
    config->num_layers = header[4];
    config->num_heads = header[5];
    config->channels = header[6];
    config->padded_vocab_size = header[7];
    for (int i = 2; i <= 7; i++) {
        if (header[i] <= 0) { printf("Bad model file: header[%d] is %d\n", i, header[i]); exit(1); }
    }
    if (config->padded_vocab_size < config->vocab_size || config->channels % config->num_heads != 0) {
        printf("Bad model file: padded_vocab_size < vocab_size, or channels not a multiple of num_heads\n");
        exit(1);
    }
    printf("[GPT-2]\n");
    printf("max_seq_len: %d\n", config->max_seq_len);
    printf("vocab_size: %d\n", config->vocab_size);
    printf("padded_vocab_size: %d\n", config->padded_vocab_size);
    printf("num_layers: %d\n", config->num_layers);
    printf("num_heads: %d\n", config->num_heads);
    printf("channels: %d\n", config->channels);

    fill_in_parameter_sizes(model->param_sizes, *config);
    for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) { model->num_parameters += model->param_sizes[i]; }
    printf("num_parameters: %zu\n", model->num_parameters);
    model->params_memory = malloc_and_point_parameters(&model->params, model->param_sizes);
    freadCheck(model->params_memory, sizeof(float), model->num_parameters, file);
    fcloseCheck(file);
}

// the activations are allocated by the first batch, and every later one has to have its shape
static void prepare_activations(GPT2* model, size_t B, size_t T) {
    if (model->acts_memory == NULL) {
        if (T > (size_t)model->config.max_seq_len) {
            printf("Error: sequence length %zu, but the model goes up to %d\n", T, model->config.max_seq_len);
            exit(1);
        }
        model->batch_size = (int)B;
        model->seq_len = (int)T;
        fill_in_activation_sizes(model->act_sizes, model->config, (int)B, (int)T);
        model->num_activations = 0;
        for (int i = 0; i < NUM_ACTIVATION_TENSORS; i++) { model->num_activations += model->act_sizes[i]; }
        printf("num_activations: %zu\n", model->num_activations);
        model->acts_memory = malloc_and_point_activations(&model->acts, model->act_sizes);
        model->inputs = (int*)mallocCheck(B * T * sizeof(int));
        model->targets = (int*)mallocCheck(B * T * sizeof(int));
    } else if (B != (size_t)model->batch_size || T != (size_t)model->seq_len) {
        printf("Error: the model has memory for B=%d T=%d, but this batch has B=%d T=%d\n",
               model->batch_size, model->seq_len, (int)B, (int)T);
        exit(1);
    }
}

// inputs, targets [B, T]; targets may be NULL, then there is no loss
void gpt2_forward(GPT2 *model, int* inputs, int* targets, size_t B, size_t T) {
    if (model->params_memory == NULL) {
        printf("Error: the model has no parameters yet, call gpt2_build_from_checkpoint first\n");
        exit(1);
    }
    int V = model->config.vocab_size, Vp = model->config.padded_vocab_size;
    int L = model->config.num_layers, NH = model->config.num_heads, C = model->config.channels;
    size_t BT = B * T;

    // checked here once, so that the operators may use a token as an index
    tokenCheck(inputs, (int)BT, V);
    if (targets != NULL) { tokenCheck(targets, (int)BT, V); }
    prepare_activations(model, B, T);
    // the backward pass needs both, and the caller may reuse its buffers
    memcpy(model->inputs, inputs, BT * sizeof(int));
    if (targets != NULL) { memcpy(model->targets, targets, BT * sizeof(int)); }

    ParameterTensors params = model->params;
    ActivationTensors acts = model->acts;
    encoder_forward(acts.encoded, inputs, params.wte, params.wpe, B, T, C);
    for (int l = 0; l < L; l++) {
        ParameterTensors p = parameters_of_layer(params, l, C);
        ActivationTensors a = activations_of_layer(acts, l, B, T, C, NH);
        float* residual = residual_into_layer(acts, l, BT * C);
        // attention branch
        layernorm_forward(a.ln1, a.ln1_mean, a.ln1_rstd, residual, p.ln1w, p.ln1b, B, T, C);
        matmul_forward(a.qkv, a.ln1, p.qkvw, p.qkvb, B, T, C, 3 * C);
        attention_forward(a.atty, a.preatt, a.att, a.qkv, B, T, C, NH);
        matmul_forward(a.attproj, a.atty, p.attprojw, p.attprojb, B, T, C, C);
        residual_forward(a.residual2, residual, a.attproj, BT * C);
        // MLP branch
        layernorm_forward(a.ln2, a.ln2_mean, a.ln2_rstd, a.residual2, p.ln2w, p.ln2b, B, T, C);
        matmul_forward(a.fch, a.ln2, p.fcw, p.fcb, B, T, C, 4 * C);
        gelu_forward(a.fch_gelu, a.fch, BT * 4 * C);
        matmul_forward(a.fcproj, a.fch_gelu, p.fcprojw, p.fcprojb, B, T, 4 * C, C);
        residual_forward(a.residual3, a.residual2, a.fcproj, BT * C);
    }
    layernorm_forward(acts.lnf, acts.lnf_mean, acts.lnf_rstd, residual_into_layer(acts, L, BT * C),
                      params.lnfw, params.lnfb, B, T, C);
    // the classifier has no weights of its own: it is the token embedding, transposed
    matmul_forward(acts.logits, acts.lnf, params.wte, NULL, B, T, C, Vp);
    softmax_forward(acts.probs, acts.logits, B, T, V, Vp);

    model->mean_loss = -1.0f;
    if (targets != NULL) {
        crossentropy_forward(acts.losses, acts.probs, targets, B, T, Vp);
        float sum = 0.0f;
        for (size_t i = 0; i < BT; i++) { sum += acts.losses[i]; }
        model->mean_loss = sum / BT;
    }
}

void gpt2_zero_grad(GPT2 *model) {
    // TODO (A2): gpt2_zero_grad
    // HINT: there are two buffers of gradients, and before the first backward pass neither exists.
    //| (void)model;
    // BEGIN SOLUTION
    if (model->grads_memory != NULL) {
        memset(model->grads_memory, 0, model->num_parameters * sizeof(float));
    }
    if (model->grads_acts_memory != NULL) {
        memset(model->grads_acts_memory, 0, model->num_activations * sizeof(float));
    }
    // END SOLUTION
}

void gpt2_backward(GPT2 *model) {
    // bit by bit, since under -Ofast a loss that is NaN may compare equal to -1.0f
    const float no_loss = -1.0f;
    if (memcmp(&model->mean_loss, &no_loss, sizeof(float)) == 0) {
        printf("Error: must forward with targets before backward\n");
        exit(1);
    }
    // TODO (A2): gpt2_backward
    // HINT: on the first call, allocate grads and grads_acts (malloc_and_point_...) and zero them: malloc
    // HINT: hands out rubbish. The loss is the mean of acts.losses: which value starts grads_acts.losses?
    // HINT: Then read gpt2_forward from its last line to its first and call the backward of each call.
    // HINT: wte is used at both ends, and a residual in two places: += does the sums for you.
    // BEGIN SOLUTION
    int B = model->batch_size, T = model->seq_len;
    int V = model->config.vocab_size, Vp = model->config.padded_vocab_size;
    int L = model->config.num_layers, NH = model->config.num_heads, C = model->config.channels;
    size_t BT = (size_t)B * T;

    if (model->grads_memory == NULL) {
        model->grads_memory = malloc_and_point_parameters(&model->grads, model->param_sizes);
        model->grads_acts_memory = malloc_and_point_activations(&model->grads_acts, model->act_sizes);
        gpt2_zero_grad(model);
    }
    ParameterTensors params = model->params, grads = model->grads;
    ActivationTensors acts = model->acts, grads_acts = model->grads_acts;

    // mean_loss is the mean of the losses, so each counts 1/(B*T)
    for (size_t i = 0; i < BT; i++) { grads_acts.losses[i] = 1.0f / BT; }
    crossentropy_softmax_backward(grads_acts.logits, grads_acts.losses, acts.probs, model->targets, B, T, V, Vp);
    matmul_backward(grads_acts.lnf, grads.wte, NULL, grads_acts.logits, acts.lnf, params.wte, B, T, C, Vp);
    layernorm_backward(residual_into_layer(grads_acts, L, BT * C), grads.lnfw, grads.lnfb, grads_acts.lnf,
                       residual_into_layer(acts, L, BT * C), params.lnfw, acts.lnf_mean, acts.lnf_rstd, B, T, C);

    for (int l = L - 1; l >= 0; l--) {
        ParameterTensors p = parameters_of_layer(params, l, C);
        ParameterTensors dp = parameters_of_layer(grads, l, C);
        ActivationTensors a = activations_of_layer(acts, l, B, T, C, NH);
        ActivationTensors da = activations_of_layer(grads_acts, l, B, T, C, NH);
        float* residual = residual_into_layer(acts, l, BT * C);
        float* dresidual = residual_into_layer(grads_acts, l, BT * C);
        // MLP branch
        residual_backward(da.residual2, da.fcproj, da.residual3, BT * C);
        matmul_backward(da.fch_gelu, dp.fcprojw, dp.fcprojb, da.fcproj, a.fch_gelu, p.fcprojw, B, T, 4 * C, C);
        gelu_backward(da.fch, a.fch, da.fch_gelu, BT * 4 * C);
        matmul_backward(da.ln2, dp.fcw, dp.fcb, da.fch, a.ln2, p.fcw, B, T, C, 4 * C);
        layernorm_backward(da.residual2, dp.ln2w, dp.ln2b, da.ln2, a.residual2, p.ln2w, a.ln2_mean, a.ln2_rstd, B, T, C);
        // attention branch
        residual_backward(dresidual, da.attproj, da.residual2, BT * C);
        matmul_backward(da.atty, dp.attprojw, dp.attprojb, da.attproj, a.atty, p.attprojw, B, T, C, C);
        attention_backward(da.qkv, da.preatt, da.att, da.atty, a.qkv, a.att, B, T, C, NH);
        matmul_backward(da.ln1, dp.qkvw, dp.qkvb, da.qkv, a.ln1, p.qkvw, B, T, C, 3 * C);
        layernorm_backward(dresidual, dp.ln1w, dp.ln1b, da.ln1, residual, p.ln1w, a.ln1_mean, a.ln1_rstd, B, T, C);
    }
    encoder_backward(grads.wte, grads.wpe, grads_acts.encoded, model->inputs, B, T, C);
    // END SOLUTION
}

// one step of AdamW; t counts the steps from 1
void gpt2_update(GPT2 *model, float learning_rate, float beta1, float beta2, float eps, float weight_decay, int t) {
    // TODO (A2): gpt2_update
    // HINT: m and v are running means of grad and grad^2 that start at zero (calloc them on the first
    // HINT: call); dividing by 1 - beta^t takes that start out. The weight decay is decoupled: it acts
    // HINT: on the parameter itself and never enters m or v.
    //| (void)model; (void)learning_rate; (void)beta1; (void)beta2; (void)eps; (void)weight_decay; (void)t;
    // BEGIN SOLUTION
    size_t N = model->num_parameters;
    if (model->m_memory == NULL) { model->m_memory = (float*)calloc(N, sizeof(float)); }
    if (model->v_memory == NULL) { model->v_memory = (float*)calloc(N, sizeof(float)); }
    float *params = model->params_memory, *grads = model->grads_memory;
    float *m = model->m_memory, *v = model->v_memory;
    if (m == NULL || v == NULL) {
        printf("Error: no memory for the two moments of AdamW\n");
        exit(1);
    }
    // in double: 1 - 0.999^t loses four digits in float
    float correct1 = (float)(1.0 / (1.0 - pow(beta1, t)));
    float correct2 = (float)(1.0 / (1.0 - pow(beta2, t)));
    #pragma omp parallel for
    for (size_t i = 0; i < N; i++) {
        m[i] = beta1 * m[i] + (1.0f - beta1) * grads[i];
        v[i] = beta2 * v[i] + (1.0f - beta2) * grads[i] * grads[i];
        float step = m[i] * correct1 / (sqrtf(v[i] * correct2) + eps);
        params[i] -= learning_rate * (step + weight_decay * params[i]);
    }
    // END SOLUTION
}

void gpt2_free(GPT2 *model) {
    free(model->params_memory);
    free(model->grads_memory);
    free(model->m_memory);
    free(model->v_memory);
    free(model->acts_memory);
    free(model->grads_acts_memory);
    free(model->inputs);
    free(model->targets);
}

#ifndef TESTING // test_gpt2.c and the grader include this file and bring their own main
// ----------------------------------------------------------------------------
// sampling

// xorshift64*: a small random number generator (https://en.wikipedia.org/wiki/Xorshift)
unsigned int random_u32(uint64_t *state) {
    uint64_t s = *state;
    s ^= s >> 12;
    s ^= s << 25;
    s ^= s >> 27;
    *state = s;
    return (unsigned int)((s * 0x2545F4914F6CDD1Dull) >> 32);
}

// uniform in [0, 1): 24 bits are what a float can hold
float random_f32(uint64_t *state) {
    return (float)(random_u32(state) >> 8) / 16777216.0f;
}

// the index at which the running sum of the probabilities passes coin, in [0, 1)
int sample_mult(float* probabilities, int n, float coin) {
    for (int i = 0; i < n; i++) {
        coin -= probabilities[i];
        if (coin < 0.0f) { return i; }
    }
    return n - 1; // rounding: the probabilities summed to a little less than 1
}

// ----------------------------------------------------------------------------
// training

// what to train and on what: the real GPT-2 where it has been downloaded, else what `make data` makes
typedef struct {
    const char *checkpoint, *train, *val, *tokenizer;
    int steps;
    float learning_rate;
} Run;

static const Run real_run = {
    "gpt2_124M.bin", "dev/data/tinyshakespeare/tiny_shakespeare_train.bin",
    "dev/data/tinyshakespeare/tiny_shakespeare_val.bin", "gpt2_tokenizer.bin", 40, 1e-4f,
};
// the tiny model knows nothing yet: it learns from bigger steps, and more of them
static const Run tiny_run = {
    "data/tiny_gpt2.bin", "data/tiny_train.bin", "data/tiny_val.bin", "data/tiny_tokenizer.bin", 200, 3e-3f,
};
#define TINY_VOCAB_SIZE 257 // 256 bytes and <|endoftext|>

static Run choose_run(const char* checkpoint) {
    if (checkpoint == NULL) {
        if (access(real_run.checkpoint, R_OK) == 0) { return real_run; }
        if (access(tiny_run.checkpoint, R_OK) == 0) { return tiny_run; }
        printf("Error: neither %s nor %s is here. Run `make data` first.\n", real_run.checkpoint, tiny_run.checkpoint);
        exit(1);
    }
    // a checkpoint by name: its vocabulary tells which tokens it was made for
    FILE* file = fopenCheck(checkpoint, "rb");
    int header[256];
    freadCheck(header, sizeof(int), 256, file);
    fcloseCheck(file);
    Run run = header[3] == TINY_VOCAB_SIZE ? tiny_run : real_run;
    run.checkpoint = checkpoint;
    return run;
}

// the mean loss over the first `batches` batches of the validation tokens
static float validation_loss(GPT2* model, DataLoader* loader, int batches, int B, int T) {
    float sum = 0.0f;
    dataloader_reset(loader);
    for (int i = 0; i < batches; i++) {
        dataloader_next_batch(loader);
        gpt2_forward(model, loader->inputs, loader->targets, B, T);
        sum += model->mean_loss;
    }
    return sum / batches;
}

// print a text that the model makes up, T tokens long; tokens [B, T] is room to work in
static void print_sample(GPT2* model, Tokenizer* tokenizer, int* tokens, uint64_t* rng, int B, int T) {
    for (int i = 0; i < B * T; i++) { tokens[i] = tokenizer->eot_token; }
    printf("generating:\n---\n");
    for (int t = 1; t < T; t++) {
        // wasteful, but simple: the whole batch goes through for one new token in its first row
        gpt2_forward(model, tokens, NULL, B, T);
        float* probs = model->acts.probs + (size_t)(t - 1) * model->config.padded_vocab_size;
        tokens[t] = sample_mult(probs, model->config.vocab_size, random_f32(rng));
        if (tokenizer->init_ok) {
            safe_printf(tokenizer_decode(tokenizer, (uint32_t)tokens[t]));
        } else {
            printf("%d ", tokens[t]);
        }
        fflush(stdout);
    }
    printf("\n---\n");
}

int main(int argc, char *argv[]) {
    if (argc > 2) {
        printf("usage: %s [checkpoint]\n", argv[0]);
        return 2;
    }
    Run run = choose_run(argc == 2 ? argv[1] : NULL);
    GPT2 model;
    gpt2_build_from_checkpoint(&model, run.checkpoint);

    int B = 4;  // sequences in a batch
    int T = 64; // tokens in a sequence
    if (T > model.config.max_seq_len) { T = model.config.max_seq_len; }
    DataLoader train_loader, val_loader;
    dataloader_init(&train_loader, run.train, B, T, 0, 1, 1);
    dataloader_init(&val_loader, run.val, B, T, 0, 1, 0);
    printf("train dataset num_batches: %zu\n", train_loader.num_tokens / (B * T));
    printf("val dataset num_batches: %zu\n", val_loader.num_tokens / (B * T));

    Tokenizer tokenizer;
    tokenizer_init(&tokenizer, run.tokenizer);
    if (!tokenizer.init_ok) { tokenizer.eot_token = model.config.vocab_size - 1; } // the last token of GPT-2
    int* tokens = (int*)mallocCheck((size_t)B * T * sizeof(int));
    uint64_t rng = 1337;

    for (int step = 0; step <= run.steps; step++) {
        if (step % (run.steps / 4) == 0) { printf("val loss %f\n", validation_loss(&model, &val_loader, 5, B, T)); }
        if (step > 0 && step % (run.steps / 2) == 0) { print_sample(&model, &tokenizer, tokens, &rng, B, T); }

        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        dataloader_next_batch(&train_loader);
        gpt2_forward(&model, train_loader.inputs, train_loader.targets, B, T);
        gpt2_zero_grad(&model);
        gpt2_backward(&model);
        if (model.grads_memory == NULL) {
            printf("Error: no gradients: gpt2_backward has not allocated model->grads_memory (not written yet?)\n");
            return 1;
        }
        gpt2_update(&model, run.learning_rate, 0.9f, 0.999f, 1e-8f, 0.0f, step + 1);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ms = (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
        printf("step %d: train loss %f (took %f ms)\n", step, model.mean_loss, ms);
    }

    free(tokens);
    dataloader_free(&train_loader);
    dataloader_free(&val_loader);
    tokenizer_free(&tokenizer);
    gpt2_free(&model);
    return 0;
}
#endif
