// What is told of a crash. A file of its own: the student's file may ask the headers for strict POSIX, which
// leaves out what is needed here.
//
// On a memory fault the handler writes one line, `{"fault": "<address>", "write": 0|1}`, for the driver, and lets
// the signal end the process. It runs on a stack of its own: the fault may be a stack overflow. Where tg_guarded
// is under way it goes back there, so that the calls made so far can be named.

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static int tg_report_descriptor = -1;
static volatile sig_atomic_t tg_armed;
static sigjmp_buf tg_way_back;

static size_t tg_hex(char *text, uintptr_t value) {
    size_t length = 0;
    for (int shift = 8 * (int)sizeof(value) - 4; shift >= 0; shift -= 4) {
        text[length++] = "0123456789abcdef"[(value >> shift) & 15];
    }
    return length;
}

static int tg_is_write(void *context) {
#if defined(__linux__) && defined(__x86_64__)
    // bit 1 of the page fault's error code (Intel SDM vol. 3, 4.7); REG_ERR is gregs[19]
    const char *bytes = context;
    int64_t code;
    memcpy(&code, bytes + 40 + 19 * 8, sizeof(code));
    return (int)((code >> 1) & 1);
#else
    (void)context;
    return -1;
#endif
}

static void tg_report_address(uintptr_t address, int is_write) {
    char line[96] = "{\"fault\": \"";
    size_t length = strlen(line);
    length += tg_hex(line + length, address);
    const char *endings[] = {"\"}\n", "\", \"write\": 0}\n", "\", \"write\": 1}\n"};
    const char *rest = endings[is_write + 1];
    memcpy(line + length, rest, strlen(rest));
    ssize_t written = write(tg_report_descriptor, line, length + strlen(rest));
    (void)written;
}

static void tg_on_fault(int number, siginfo_t *info, void *context) {
    if (number != SIGFPE) { tg_report_address((uintptr_t)info->si_addr, tg_is_write(context)); }
    if (tg_armed) { siglongjmp(tg_way_back, number); }
    signal(number, SIG_DFL);
    raise(number);
}

void tg_report_faults(int descriptor);
void tg_report_faults(int descriptor) {
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = tg_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    tg_report_descriptor = descriptor;
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
}

// Whether a memory fault would still be told: the student's code may have put a handler of its own in place.
int tg_faults_are_reported(void);
int tg_faults_are_reported(void) {
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == tg_on_fault;
}

// Calls the function; the number of the signal that stopped it, or 0.
int tg_guarded(void (*function)(void *), void *argument);
int tg_guarded(void (*function)(void *), void *argument) {
    int number = sigsetjmp(tg_way_back, 1);
    if (number == 0) {
        tg_armed = 1;
        function(argument);
    }
    tg_armed = 0;
    return number;
}
