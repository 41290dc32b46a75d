// The program: reads calls, makes them, writes the first array of each. What the code does wrong is told on the way.
//
//     kernels CALLS FINDINGS OUTPUT SECONDS (of CPU time)
//
// CALLS: for each call int32 function (tensorMap, tensorZip, tensorReduce, MatrixMultiply), int32 number of arguments,
// and for each argument int32 kind (0 floats, 1 ints, 2 a float, 3 an int), int32 count, int32 length of its name, the
// name, the values. OUTPUT: the float arrays that come first, one after the other.

#include "model.h"
#include "tg_launch.h"

#include <sys/mman.h>
#include <sys/time.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness_types.h"

namespace tg {

void set_last_error(int error);
void set_current_call(int call);

namespace {

constexpr int MOST_ARGUMENTS = 16;
const char* const FUNCTIONS[] = {"tensorMap", "tensorZip", "tensorReduce", "MatrixMultiply"};

FILE* calls;
FILE* output;

bool read_int(int* value) { return fread(value, sizeof *value, 1, calls) == 1; }

int must_read_int() {
    int value;
    if (!read_int(&value)) {
        fprintf(stderr, "the calls are cut short\n");
        give_up(71);
    }
    return value;
}

void must_read(void* place, size_t bytes) {
    if (bytes > 0 && fread(place, 1, bytes, calls) != bytes) {
        fprintf(stderr, "the calls are cut short\n");
        give_up(71);
    }
}

Argument read_argument(Array** array) {
    Argument argument{};
    int kind = must_read_int(), count = must_read_int(), length = must_read_int();
    char* name = static_cast<char*>(calloc(length + 1, 1));
    must_read(name, length);
    *array = nullptr;
    if (kind >= 2) {
        must_read(kind == 2 ? static_cast<void*>(&argument.real) : &argument.whole, 4);
        return argument;
    }
    *array = make_array(size_t{4} * count, Kind::host, name);
    if (*array == nullptr) {
        fprintf(stderr, "the calls need more memory than there is\n");
        give_up(71);
    }
    void* place = reinterpret_cast<void*>((*array)->begin);
    must_read(place, size_t{4} * count);
    argument.floats = static_cast<float*>(place);
    argument.ints = static_cast<int*>(place);
    return argument;
}

void tell_what_is_left(int index, const Array* out) {
    for (int i = 1; i < array_count; i++) {
        const Array& array = arrays[i];
        if (array.kind == Kind::device && array.call == index && !array.freed) {
            Finding f{"leak"};
            f.name = array.name;
            f.size = static_cast<long>(array.end - array.begin);
            f.line = array.declared_in;
            tell(f);
        }
    }
    if (out != nullptr && !out->copied_into) {
        Finding f{"not copied"};
        f.name = out->name;
        tell(f);
    }
}

void make_call(int index, int function) {
    const char* name = FUNCTIONS[function];
    set_call(index, name);
    set_current_call(index);
    set_last_error(0);
    Argument arguments[MOST_ARGUMENTS];
    int count = must_read_int();
    Array* first = nullptr;
    for (int i = 0; i < count; i++) {
        Array* array;
        arguments[i] = read_argument(&array);
        first = i == 0 ? array : first;
    }
    if (!tg_call(function, arguments)) {
        tell(Finding{"missing"});
        return;
    }
    tell_what_is_left(index, first);
    fwrite(reinterpret_cast<void*>(first->begin), 1, first->end - first->begin, output);
    fflush(output);
}

const char* name_of(int signal) {
    switch (signal) {
        case SIGFPE: return "division";
        case SIGILL: return "trap";
        case SIGABRT: return "abort";
        default: return "memory";
    }
}

void on_signal(int signal, siginfo_t* info, void*) {
    Finding f{signal == SIGPROF ? "time" : "signal"};
    f.text = signal == SIGPROF ? "" : name_of(signal);
    uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
    if (now.in_kernel && now.thread != nullptr) {
        f.pc = now.thread->last_pc;
        f.who = who();
        if (signal == SIGSEGV && address < now.thread->stack && address >= now.thread->stack - PAGE) {
            f.text = "stack";
        }
    } else if (signal == SIGSEGV && device_memory.holds(address)) {
        f.kind = "host";
        if (Array* array = device_memory.nearest(address)) {
            f.name = array->name;
        }
    }
    tell(f);
    give_up(signal == SIGPROF ? 124 : 75);
}

void watch_signals(double seconds) {
    static char stack[64 << 10];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF}) {
        sigaction(signal, &action, nullptr);
    }
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<time_t>(seconds)) * 1e6);
    setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

void tell_signature(const char* function, int parameter, const char* declared) {
    Finding f{"signature"};
    f.name = function;
    f.text = declared;
    f.count = parameter;
    tell(f);
}

}  // namespace tg

// An assertion of the student's that does not hold; in place of the C library's.
extern "C" void __assert_fail(const char* expression, const char*, unsigned line, const char*) {
    tg::Finding f{"assert"};
    f.text = expression;
    f.line = static_cast<int>(line);
    if (tg::now.in_kernel) {
        f.who = tg::who();
    }
    tg::tell(f);
    tg::give_up(76);
}

// ---- AddressSanitizer, where the student's file is compiled for it: it sees the arrays of functions ---------------

extern "C" {

__attribute__((weak)) void* __asan_get_report_pc();
__attribute__((weak)) int __asan_get_report_access_type();
__attribute__((weak)) size_t __asan_get_report_access_size();
__attribute__((weak)) const char* __asan_get_report_description();

const char* __asan_default_options() {
    return "detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0:handle_abort=0:handle_sigfpe=0:print_summary=0";
}

void __asan_on_error() {
    tg::Finding f{"local"};
    f.text = __asan_get_report_description();
    f.access = __asan_get_report_access_type() != 0 ? "write" : "read";
    f.bytes = static_cast<long>(__asan_get_report_access_size());
    f.pc = reinterpret_cast<uintptr_t>(__asan_get_report_pc()) + 1;
    if (tg::now.in_kernel) {
        f.who = tg::who();
    }
    tg::tell(f);
    tg::give_up(75);
}

}  // extern "C"

int main(int count, char** values) {
    if (count != 5) {
        fprintf(stderr, "usage: kernels CALLS FINDINGS OUTPUT SECONDS\n");
        return 71;
    }
    tg::calls = fopen(values[1], "rb");
    tg::output = fopen(values[3], "wb");
    if (tg::calls == nullptr || tg::output == nullptr) {
        perror("the calls, or the output");
        return 71;
    }
    tg::open_findings(values[2]);
    tg::make_memory();
    tg::watch_signals(atof(values[4]));
    int function;
    for (int index = 1; tg::read_int(&function); index++) {
        tg::make_call(index, function);
    }
    fclose(tg::output);
    fflush(nullptr);
    return 0;
}
