// What the parts of the execution model know of one another. The model runs CUDA kernels on the host, one thread of a
// block after the other, and looks at each access to memory. It is compiled without instrumentation; the student's
// file is compiled with it, so that every load and store there calls `access` first.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tg {

// ---- what is found: findings.cpp ---------------------------------------------------------------

constexpr int MOST_FINDINGS = 24;  // of a case; those after them tell nothing new

struct Dim {
    uint32_t x, y, z;
};

// A thread of a launch.
struct Who {
    Dim thread{}, block{};
    bool known = false;
};

// One thing that is wrong. Empty strings and zeros say that there is nothing to tell.
struct Finding {
    const char* kind;
    const char* access = "";  // read, write
    const char* space = "";   // device, shared, host
    const char* name = "";    // of the array
    const char* text = "";
    long offset = 0;   // bytes from the start of the array
    long size = 0;     // bytes of the array
    long bytes = 0;    // of the access
    long count = 0;
    uintptr_t pc = 0;  // where the student's code did it
    int line = 0;      // the same, where the line is known
    Who who{};
    const char* other_access = "";
    uintptr_t other_pc = 0;
    int other_line = 0;
    Who other{};
};

void open_findings(const char* path);
// Says it once for each place in the code; the call and the kernel that run are added.
void tell(const Finding& finding);
void set_call(int index, const char* function);
[[noreturn]] void give_up(int code);  // what was found is said already

// ---- memory: memory.cpp ------------------------------------------------------------------------

constexpr size_t PAGE = 4096;
constexpr size_t ROOM = 128 << 20;     // of the device, bytes
constexpr size_t GAP = 64 << 10;       // between two arrays: what is read or written there is out of bounds
constexpr int MOST_ARRAYS = 8192;

enum class Kind : uint8_t { device, shared, host };

struct Array {
    uintptr_t begin, end;
    Kind kind;
    bool freed;
    bool copied_into;  // something was copied to it from the device
    int call;          // in which call it was made
    int declared_in;   // launch in which a kernel declared it, for shared ones
    const char* name;
};

// A range of addresses of which arrays are parts, each on pages of its own.
struct Arena {
    uint8_t* base;
    uint16_t* pages;  // number of the array that a page belongs to; 0: none
    size_t used;

    bool holds(uintptr_t address) const { return address - reinterpret_cast<uintptr_t>(base) < ROOM; }
    Array* at(uintptr_t address) const;
    Array* nearest(uintptr_t address) const;
};

extern Arena device_memory, host_memory;
extern Array arrays[MOST_ARRAYS];
extern int array_count;

void make_memory();
Array* make_array(size_t bytes, Kind kind, const char* name);  // null: there is no room
const char* space_of(Kind kind);

// The host cannot touch the device's memory but while one of these lives.
struct Unlocked {
    Unlocked();
    ~Unlocked();
};

// ---- accesses: accesses.cpp --------------------------------------------------------------------

struct Access {
    uint32_t era, thread, warp_epoch, pc;
};

// What is known of four bytes.
struct Cell {
    Access write, read;
    uint32_t other_era, other_thread, other_pc;  // the last read by another block; for shared memory: era of the block
    uint8_t write_mask, read_mask, written, flags;
};

Cell* cells_of(uintptr_t address);
void mark_written(uintptr_t address, size_t bytes);
// Of the first elements that nobody has written: how many, and the offset of the first.
long count_unwritten(uintptr_t address, size_t bytes, long* first);
void access(uintptr_t address, size_t bytes, bool write, bool atomic, uintptr_t pc);
void settle();  // a write that another thread made before: it is harmless if it writes the same

// ---- threads: threads.cpp ----------------------------------------------------------------------

constexpr size_t STACK = 64 << 10;  // of a thread, bytes
constexpr uint32_t WARP = 32;

enum class State : uint8_t { running, at_barrier, at_warp, ended };

struct Thread {
    uint32_t number;  // in the launch
    uint32_t lane, warp;
    uint32_t warp_epoch;
    uintptr_t last_pc;
    uintptr_t stack;
    State state;
    int line;          // of the barrier that it waits at
    uint32_t mask;
    uint32_t exchanges;
    uint64_t slot[2];
    void* fibre;
};

// The launch that runs. An era lasts from one barrier of a block to the next; no two share a number.
struct Now {
    bool in_kernel;
    const char* kernel;
    int launch_line;
    int launch;
    Dim grid, block;
    uint32_t per_block;
    uint32_t era, block_era, launch_era;
    Thread* thread;
};

extern Now now;

Who who(uint32_t thread);
Who who();

}  // namespace tg
