// The threads of a launch. Blocks run one after the other; within a block, each thread runs to its next barrier before
// the next one does. A thread has a stack of its own once it has to wait; those that never wait share one.

#include "model.h"
#include "tg_launch.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

uint3 tg_thread_index __asm__("threadIdx"), tg_block_index __asm__("blockIdx");
uint3 tg_block_size __asm__("blockDim"), tg_grid_size __asm__("gridDim");

// void tg_switch(void** from, void* to): keeps what a call must keep on this stack, and goes on with another one.
#if defined(__x86_64__)
__asm__(R"(
    .text
    .globl tg_switch
    .type tg_switch, @function
tg_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size tg_switch, .-tg_switch
)");
static constexpr int KEPT = 6, RETURN = 6;
#elif defined(__aarch64__)
__asm__(R"(
    .text
    .globl tg_switch
    .type tg_switch, %function
tg_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size tg_switch, .-tg_switch
)");
static constexpr int KEPT = 20, RETURN = 11;
#else
#error "the execution model knows x86-64 and AArch64"
#endif

extern "C" void tg_switch(void** from, void* to);

// AddressSanitizer is told of stacks, where it is there.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake, const void* bottom, size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake, const void** bottom, size_t* size);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* address, size_t size);
}

namespace tg {

namespace {

constexpr uint32_t MOST_THREADS = 1024;
constexpr size_t MOST_SHARED = 48 << 10;

struct Fibre {
    void* stack_pointer;
    uint8_t* stack;
    void* fake;
    bool guarded;
};

uint8_t* stacks;
Fibre fibres[MOST_THREADS + 1];
int free_fibres[MOST_THREADS + 1];
int free_count = 0;
Fibre* running;
void* scheduler;
void* scheduler_fake;
const void* scheduler_bottom;
size_t scheduler_size;

Thread threads[MOST_THREADS];
uint32_t next_thread;
uint32_t last_epoch;
uint32_t last_era;  // 0 is before everything
int launches;

void (*call)(void*);
void* arguments;

size_t shared_in_use;
bool shared_told;
size_t dynamic_size;
Array* dynamic_array;

void back_to_scheduler() {
    Fibre* self = running;
    if (__sanitizer_start_switch_fiber != nullptr) {
        __sanitizer_start_switch_fiber(&self->fake, scheduler_bottom, scheduler_size);
    }
    tg_switch(&self->stack_pointer, scheduler);
    if (__sanitizer_finish_switch_fiber != nullptr) {
        __sanitizer_finish_switch_fiber(self->fake, &scheduler_bottom, &scheduler_size);
    }
}

void go_on_with(Fibre* fibre) {
    running = fibre;
    if (__sanitizer_start_switch_fiber != nullptr) {
        __sanitizer_start_switch_fiber(&scheduler_fake, fibre->stack, STACK);
    }
    tg_switch(&scheduler, fibre->stack_pointer);
    if (__sanitizer_finish_switch_fiber != nullptr) {
        __sanitizer_finish_switch_fiber(scheduler_fake, nullptr, nullptr);
    }
}

void become(Thread& thread) {
    now.thread = &thread;
    uint32_t index = thread.number % now.per_block;
    tg_thread_index = {index % now.block.x, index / now.block.x % now.block.y, index / now.block.x / now.block.y};
    thread.state = State::running;
}

// The life of a fibre: one thread after the other, as long as none has to wait.
void live() {
    if (__sanitizer_finish_switch_fiber != nullptr) {
        __sanitizer_finish_switch_fiber(nullptr, &scheduler_bottom, &scheduler_size);
    }
    for (;;) {
        while (next_thread < now.per_block) {
            Thread& thread = threads[next_thread++];
            thread.fibre = running;
            thread.stack = reinterpret_cast<uintptr_t>(running->stack);
            become(thread);
            call(arguments);
            settle();
            now.thread->state = State::ended;
        }
        free_fibres[free_count++] = static_cast<int>(running - fibres);
        back_to_scheduler();
    }
}

void make_stacks() {
    size_t bytes = (MOST_THREADS + 1) * (STACK + PAGE);
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        perror("the execution model has no room for its threads");
        give_up(71);
    }
    stacks = static_cast<uint8_t*>(place);
    for (uint32_t i = 0; i <= MOST_THREADS; i++) {
        fibres[i].stack = stacks + i * (STACK + PAGE) + PAGE;
    }
}

// The page before a stack is nobody's, once the stack is used.
Fibre* taken() {
    Fibre* fibre = &fibres[free_fibres[--free_count]];
    if (!fibre->guarded) {
        fibre->guarded = true;
        mprotect(fibre->stack - PAGE, PAGE, PROT_NONE);
    }
    return fibre;
}

void make_fibres() {
    if (stacks == nullptr) {
        make_stacks();
    }
    free_count = 0;
    for (int i = MOST_THREADS; i >= 0; i--) {
        uintptr_t top = reinterpret_cast<uintptr_t>(fibres[i].stack + STACK) & ~uintptr_t{63};
        void** frame = reinterpret_cast<void**>(top) - KEPT - 2;
        memset(frame, 0, (KEPT + 2) * sizeof(void*));
        frame[RETURN] = reinterpret_cast<void*>(&live);
        fibres[i].stack_pointer = frame;
        fibres[i].fake = nullptr;
        free_fibres[free_count++] = i;
    }
    if (__asan_unpoison_memory_region != nullptr) {
        __asan_unpoison_memory_region(stacks, (MOST_THREADS + 1) * (STACK + PAGE));
    }
}

void begin_block(uint32_t block) {
    Dim g = now.grid;
    tg_block_index = {block % g.x, block / g.x % g.y, block / g.x / g.y};
    now.era = now.block_era = ++last_era;
    next_thread = 0;
    for (uint32_t i = 0; i < now.per_block; i++) {
        Thread& thread = threads[i];
        thread = Thread{};
        thread.number = block * now.per_block + i;
        thread.lane = i % WARP;
        thread.warp = i / WARP;
    }
}

void resume(Thread& thread) {
    become(thread);
    go_on_with(static_cast<Fibre*>(thread.fibre));
}

uint32_t count(State state) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < now.per_block; i++) {
        found += threads[i].state == state;
    }
    return found;
}

const Thread* first_of(State state) {
    for (uint32_t i = 0; i < now.per_block; i++) {
        if (threads[i].state == state) {
            return &threads[i];
        }
    }
    return nullptr;
}

// Releases the warps whose threads have all come to where they exchange values; says whether there were any.
bool release_warps() {
    bool released = false;
    for (uint32_t first = 0; first < now.per_block; first += WARP) {
        uint32_t last = first + WARP < now.per_block ? first + WARP : now.per_block;
        uint32_t mask = 0, here = 0, alive = 0;
        for (uint32_t i = first; i < last; i++) {
            uint32_t bit = 1u << (i - first);
            alive |= threads[i].state != State::ended ? bit : 0;
            if (threads[i].state == State::at_warp) {
                here |= bit;
                mask |= threads[i].mask;
            }
        }
        if (here == 0 || (mask & alive & ~here) != 0) {
            continue;
        }
        released = true;
        uint32_t epoch = ++last_epoch;
        for (uint32_t i = first; i < last; i++) {
            if ((here >> (i - first) & 1) != 0) {
                threads[i].warp_epoch = epoch;
            }
        }
        for (uint32_t i = first; i < last; i++) {
            if ((here >> (i - first) & 1) != 0) {
                resume(threads[i]);
            }
        }
    }
    return released;
}

// Says that a part of the block waits, if so: for threads that have ended, or wait elsewhere.
void check_barrier() {
    const Thread* waits = first_of(State::at_barrier);
    const Thread* other = first_of(State::ended);
    const char* where = "ended";
    long missing = count(State::ended);
    if (other == nullptr) {
        for (uint32_t i = 0; i < now.per_block; i++) {
            if (threads[i].line != waits->line) {
                other = other == nullptr ? &threads[i] : other;
                missing++;
            }
        }
        where = "elsewhere";
    }
    if (other == nullptr) {
        return;
    }
    Finding f{"barrier"};
    f.text = where;
    f.line = waits->line;
    f.who = who(waits->number);
    f.count = missing;
    f.size = now.per_block;
    f.other = who(other->number);
    f.other_line = other->state == State::ended ? 0 : other->line;
    f.other_pc = other->state == State::ended ? other->last_pc : 0;
    tell(f);
}

void stuck() {
    const Thread* waits = first_of(State::at_warp);
    const Thread* other = first_of(State::at_barrier);
    Finding f{"barrier"};
    f.text = "warp";
    f.line = waits->line;
    f.who = who(waits->number);
    f.size = now.per_block;
    if (other != nullptr) {
        f.other = who(other->number);
        f.other_line = other->line;
    }
    tell(f);
    give_up(75);
}

void run_block(uint32_t block) {
    begin_block(block);
    while (next_thread < now.per_block) {
        go_on_with(taken());
    }
    for (;;) {
        if (release_warps()) {
            continue;
        }
        if (first_of(State::at_warp) != nullptr) {
            stuck();
        }
        if (first_of(State::at_barrier) == nullptr) {
            return;
        }
        check_barrier();
        now.era = ++last_era;
        for (uint32_t i = 0; i < now.per_block; i++) {
            if (threads[i].state == State::at_barrier) {
                resume(threads[i]);
            }
        }
    }
}

void wait(State state, int line) {
    Thread* self = now.thread;
    settle();
    self->line = line;
    self->state = state;
    back_to_scheduler();
}

void refuse(const char* why, int line) {
    Finding f{"launch"};
    f.text = why;
    f.line = line;
    tell(f);
}

}  // namespace

void set_last_error(int error);  // api.cpp

Now now;

Who who(uint32_t thread) {
    Who found;
    uint32_t index = thread % now.per_block, block = thread / now.per_block;
    Dim b = now.block, g = now.grid;
    found.thread = {index % b.x, index / b.x % b.y, index / b.x / b.y};
    found.block = {block % g.x, block / g.x % g.y, block / g.x / g.y};
    found.known = true;
    return found;
}

Who who() { return who(now.thread->number); }

// ---- what the student's file calls -------------------------------------------------------------

static bool is_possible(const Launch& how) {
    static char text[200];
    uint64_t threads_asked = uint64_t{how.block.x} * how.block.y * how.block.z;
    uint64_t blocks = uint64_t{how.grid.x} * how.grid.y * how.grid.z;
    text[0] = 0;
    if (threads_asked == 0 || blocks == 0) {
        snprintf(text, sizeof text, "a grid of (%u, %u, %u) blocks of (%u, %u, %u) threads has none", how.grid.x,
                 how.grid.y, how.grid.z, how.block.x, how.block.y, how.block.z);
    } else if (threads_asked > MOST_THREADS || how.block.x > 1024 || how.block.y > 1024 || how.block.z > 64) {
        snprintf(text, sizeof text, "a block of (%u, %u, %u) threads: at most 1024 in all, and 64 in z", how.block.x,
                 how.block.y, how.block.z);
    } else if (how.grid.x > 0x7fffffffu || how.grid.y > 65535 || how.grid.z > 65535) {
        snprintf(text, sizeof text, "a grid of (%u, %u, %u) blocks: at most 65535 in y and z", how.grid.x, how.grid.y,
                 how.grid.z);
    } else if (how.shared > MOST_SHARED) {
        snprintf(text, sizeof text, "%zu bytes of shared memory: at most %zu", how.shared, MOST_SHARED);
    } else if (blocks * threads_asked > 0xfffffff0u) {
        snprintf(text, sizeof text, "a grid of %llu threads: more than the largest probe has work for by far",
                 static_cast<unsigned long long>(blocks * threads_asked));
    }
    if (text[0] != 0) {
        now.kernel = how.kernel;
        now.launch_line = how.line;
        refuse(text, how.line);
    }
    return text[0] == 0;
}

void launch(const Launch& how, void (*function)(void*), void* values) {
    if (!is_possible(how)) {
        set_last_error(9);
        return;
    }
    Unlocked memory;
    make_fibres();
    now.kernel = how.kernel;
    now.launch_line = how.line;
    now.launch = ++launches;
    now.grid = {how.grid.x, how.grid.y, how.grid.z};
    now.block = {how.block.x, how.block.y, how.block.z};
    now.per_block = how.block.x * how.block.y * how.block.z;
    tg_block_size = {how.block.x, how.block.y, how.block.z};
    tg_grid_size = {how.grid.x, how.grid.y, how.grid.z};
    now.launch_era = last_era + 1;
    call = function;
    arguments = values;
    dynamic_size = how.shared;
    shared_in_use = how.shared;
    shared_told = false;
    now.in_kernel = true;
    uint32_t blocks = how.grid.x * how.grid.y * how.grid.z;
    for (uint32_t block = 0; block < blocks; block++) {
        run_block(block);
    }
    now.in_kernel = false;
}

void name_argument(const char* names, int index, const void* pointer) {
    uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    if (!device_memory.holds(address)) {
        return;
    }
    Array* array = device_memory.at(address);
    for (; index > 0 && *names != 0; names++) {
        index -= *names == ',';
    }
    size_t length = strcspn(names, ",");
    if (array != nullptr && length > 0 && array->name[0] == 0) {
        array->name = strndup(names, length);
    }
}

static void count_shared(size_t bytes) {
    shared_in_use += bytes;
    if (shared_in_use > MOST_SHARED && !shared_told) {
        shared_told = true;
        static char text[120];
        snprintf(text, sizeof text, "%zu bytes of shared memory: at most %zu", shared_in_use, MOST_SHARED);
        refuse(text, now.launch_line);
    }
}

void* make_shared(size_t bytes, const char* name, int* number) {
    Unlocked memory;
    Array* array = make_array(bytes, Kind::shared, name);
    if (array == nullptr) {
        refuse("more shared memory than there is", now.launch_line);
        give_up(75);
    }
    *number = static_cast<int>(array - arrays);
    return reinterpret_cast<void*>(array->begin);
}

void declare_shared(int number) {
    Array& array = arrays[number];
    if (array.declared_in != now.launch) {
        array.declared_in = now.launch;
        count_shared(array.end - array.begin);
    }
}

void* dynamic_shared(const char* name) {
    if (dynamic_array == nullptr) {
        dynamic_array = make_array(MOST_SHARED, Kind::shared, name);
    }
    dynamic_array->name = name;
    dynamic_array->end = dynamic_array->begin + dynamic_size;
    return reinterpret_cast<void*>(dynamic_array->begin);
}

void barrier(int line) {
    if (now.in_kernel) {
        wait(State::at_barrier, line);
    }
}

void warp_barrier(unsigned mask, int line) {
    now.thread->mask = mask;
    wait(State::at_warp, line);
}

unsigned lane() { return now.thread->lane; }

uint64_t warp_exchange(uint64_t value, int source, unsigned mask, int line) {
    Thread* self = now.thread;
    uint32_t turn = self->exchanges++ & 1;
    self->slot[turn] = value;
    warp_barrier(mask, line);
    uint32_t first = self->warp * WARP;
    uint32_t from = first + static_cast<uint32_t>(source) % WARP;
    return from < now.per_block && threads[from].state != State::ended ? threads[from].slot[turn] : value;
}

unsigned warp_vote(bool value, unsigned mask, int line) {
    Thread* self = now.thread;
    uint32_t turn = self->exchanges++ & 1;
    self->slot[turn] = value ? 1 : 0;
    warp_barrier(mask, line);
    uint32_t first = self->warp * WARP, found = 0;
    for (uint32_t i = 0; i < WARP && first + i < now.per_block; i++) {
        bool counts = (mask >> i & 1) != 0 && threads[first + i].state != State::ended;
        found |= counts && threads[first + i].slot[turn] != 0 ? 1u << i : 0;
    }
    return found;
}

}  // namespace tg
