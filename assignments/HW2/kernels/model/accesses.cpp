// Every load and store of the student's code comes by here: is it within an array, may it be made from where it is
// made, has somebody written what is read, and does no other thread get into its way?
//
// The compiler's instrumentation for ThreadSanitizer makes the calls (`__tsan_read4` and so on); its runtime is not
// linked, these functions take its place.

#include "model.h"

#include <cstring>

extern char __executable_start, end;  // of the program, by the linker

namespace tg {

namespace {

constexpr uint8_t ATOMIC = 1, MANY = 2;

// A write to what another thread has written in the same era; whether that matters shows once it is done.
struct Pending {
    bool waits;
    uintptr_t address;
    size_t bytes;
    uint8_t before[16];
    Finding finding;
} pending;

uint8_t mask_of(uintptr_t address, size_t bytes) {
    unsigned first = address % 4;
    unsigned last = first + bytes > 4 ? 4 : first + static_cast<unsigned>(bytes);
    return static_cast<uint8_t>((1u << last) - (1u << first));
}

bool conflicts(const Access& earlier) {
    const Thread& thread = *now.thread;
    if (earlier.era < now.launch_era || earlier.thread == thread.number) {
        return false;
    }
    if (earlier.era < now.block_era) {
        return true;  // by another block: nothing puts the two in order
    }
    if (earlier.era != now.era) {
        return false;
    }
    bool same_warp = earlier.thread / now.per_block == thread.number / now.per_block &&
                     earlier.thread % now.per_block / WARP == thread.warp;
    return !(same_warp && earlier.warp_epoch != thread.warp_epoch);
}

Finding described(const char* kind, const Array& array, uintptr_t address, size_t bytes, bool write, uintptr_t pc) {
    Finding f{kind};
    f.access = write ? "write" : "read";
    f.space = space_of(array.kind);
    f.name = array.name;
    f.offset = static_cast<long>(address) - static_cast<long>(array.begin);
    f.size = static_cast<long>(array.end - array.begin);
    f.bytes = static_cast<long>(bytes);
    f.pc = pc;
    if (now.in_kernel) {
        f.who = who();
    }
    return f;
}

Finding race(const Array& array, uintptr_t address, size_t bytes, bool write, uintptr_t pc, const Access& earlier,
             const char* earlier_access) {
    Finding f = described("race", array, address, bytes, write, pc);
    f.other_access = earlier_access;
    f.other_pc = earlier.pc;
    if (earlier.thread != now.thread->number) {
        f.other = who(earlier.thread);
    }
    return f;
}

void begin_of_block(Cell& cell) {
    if (cell.other_era != now.block_era) {  // another block's: its shared memory is gone
        cell = Cell{};
        cell.other_era = now.block_era;
    }
}

Access mine(uintptr_t pc) {
    return Access{now.era, now.thread->number, now.thread->warp_epoch, static_cast<uint32_t>(pc)};
}

void read_cell(Array& array, Cell& cell, uint8_t mask, uintptr_t address, size_t bytes, bool atomic, uintptr_t pc) {
    if ((cell.written & mask) != mask) {
        tell(described("unwritten", array, address, bytes, false, pc));
        cell.written |= mask;
    }
    bool both_atomic = atomic && (cell.flags & ATOMIC) != 0;
    if ((cell.write_mask & mask) != 0 && !both_atomic && conflicts(cell.write)) {
        tell(race(array, address, bytes, false, pc, cell.write, "write"));
    }
    if (cell.read.era == now.era) {
        if (cell.read.thread != now.thread->number) {
            cell.flags |= MANY;
        }
        cell.read_mask |= mask;
    } else {
        if (array.kind == Kind::device && cell.read.era >= now.launch_era && cell.read.era < now.block_era) {
            cell.other_era = cell.read.era;
            cell.other_thread = cell.read.thread;
            cell.other_pc = cell.read.pc;
        }
        cell.flags &= static_cast<uint8_t>(~MANY);
        cell.read_mask = mask;
    }
    cell.read = mine(pc);
}

void write_cell(Array& array, Cell& cell, uint8_t mask, uintptr_t address, size_t bytes, bool atomic, uintptr_t pc) {
    bool both_atomic = atomic && (cell.flags & ATOMIC) != 0;
    if ((cell.write_mask & mask) != 0 && !both_atomic && conflicts(cell.write) && bytes <= sizeof pending.before) {
        pending.waits = true;
        pending.address = address;
        pending.bytes = bytes;
        memcpy(pending.before, reinterpret_cast<void*>(address), bytes);
        pending.finding = race(array, address, bytes, true, pc, cell.write, "write");
    }
    if ((cell.read_mask & mask) != 0 && !both_atomic) {
        Access earlier = cell.read;
        bool by_others = (cell.flags & MANY) != 0 && earlier.era == now.era;
        if (conflicts(earlier) || (by_others && earlier.warp_epoch == now.thread->warp_epoch)) {
            tell(race(array, address, bytes, true, pc, earlier, "read"));
        }
    }
    if (array.kind == Kind::device && cell.other_era >= now.launch_era && !both_atomic) {
        Access earlier{cell.other_era, cell.other_thread, 0, cell.other_pc};
        if (conflicts(earlier)) {
            tell(race(array, address, bytes, true, pc, earlier, "read"));
        }
    }
    cell.write_mask = cell.write.era == now.era ? cell.write_mask | mask : mask;
    cell.write = mine(pc);
    cell.written |= mask;
    cell.flags = static_cast<uint8_t>(atomic ? cell.flags | ATOMIC : cell.flags & ~ATOMIC);
}

void track(Array& array, uintptr_t address, size_t bytes, bool write, bool atomic, uintptr_t pc) {
    if (bytes > 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0 && address % bytes != 0) {
        tell(described("misaligned", array, address, bytes, write, pc));
    }
    Cell* cell = cells_of(address);
    for (uintptr_t at = address; at < address + bytes; cell++) {
        size_t part = 4 - at % 4;
        part = part < address + bytes - at ? part : address + bytes - at;
        if (array.kind == Kind::shared) {
            begin_of_block(*cell);
        }
        if (write) {
            write_cell(array, *cell, mask_of(at, part), address, bytes, atomic, pc);
        } else {
            read_cell(array, *cell, mask_of(at, part), address, bytes, atomic, pc);
        }
        at += part;
    }
}

bool within(const Array& array, uintptr_t address, size_t bytes) {
    return address >= array.begin && bytes <= array.end - array.begin && address <= array.end - bytes;
}

void beyond(const Arena& arena, uintptr_t address, size_t bytes, bool write, uintptr_t pc) {
    if (Array* array = arena.nearest(address)) {
        bool inside = within(*array, address, bytes);
        tell(described(inside && array->freed ? "freed" : "bounds", *array, address, bytes, write, pc));
    }
}

// What belongs to no array of the device's, nor to the thread.
void elsewhere(uintptr_t address, size_t bytes, bool write, uintptr_t pc) {
    uintptr_t first = reinterpret_cast<uintptr_t>(&__executable_start);
    if (address - first < static_cast<uintptr_t>(&end - &__executable_start)) {
        return;  // __device__ and __constant__ variables, and constants
    }
    Finding f{"stray"};
    Array none{};
    Array* array = host_memory.holds(address) ? host_memory.nearest(address) : nullptr;
    f = described("stray", array != nullptr ? *array : none, address, bytes, write, pc);
    f.space = "host";
    f.name = array != nullptr ? array->name : "";
    tell(f);
    give_up(75);
}

void of_the_host(uintptr_t address, size_t bytes, bool write, uintptr_t pc) {
    if (device_memory.holds(address)) {
        Array* array = device_memory.nearest(address);
        Array none{};
        tell(described("host", array != nullptr ? *array : none, address, bytes, write, pc));
        give_up(75);
    }
    if (host_memory.holds(address)) {
        Array* array = host_memory.at(address);
        if (array == nullptr || !within(*array, address, bytes)) {
            beyond(host_memory, address, bytes, write, pc);
        }
    }
}

}  // namespace

void settle() {
    if (pending.waits) {
        pending.waits = false;
        if (memcmp(pending.before, reinterpret_cast<void*>(pending.address), pending.bytes) == 0) {
            pending.finding.kind = "again";
        }
        tell(pending.finding);
    }
}

void access(uintptr_t address, size_t bytes, bool write, bool atomic, uintptr_t pc) {
    if (!now.in_kernel) {
        of_the_host(address, bytes, write, pc);
        return;
    }
    settle();
    Thread& thread = *now.thread;
    thread.last_pc = pc;
    if (address - thread.stack < STACK) {
        return;
    }
    if (!device_memory.holds(address)) {
        elsewhere(address, bytes, write, pc);
        return;
    }
    Array* array = device_memory.at(address);
    if (array == nullptr || array->freed || !within(*array, address, bytes)) {
        beyond(device_memory, address, bytes, write, pc);
        return;
    }
    track(*array, address, bytes, write, atomic, pc);
}

void mark_written(uintptr_t address, size_t bytes) {
    for (uintptr_t at = address; at < address + bytes; at = (at / 4 + 1) * 4) {
        size_t left = address + bytes - at;
        cells_of(at)->written |= mask_of(at, left < 4 ? left : 4);
    }
}

long count_unwritten(uintptr_t address, size_t bytes, long* first) {
    long count = 0;
    for (uintptr_t at = address; at + 4 <= address + bytes; at += 4) {
        if (cells_of(at)->written != 15 && count++ == 0) {
            *first = static_cast<long>(at - address);
        }
    }
    return count;
}

}  // namespace tg

// ---- what the compiler calls -------------------------------------------------------------------

#define HERE reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define ADDRESS reinterpret_cast<uintptr_t>(place)
#define LOADS_AND_STORES(bytes)                                                                                   \
    void __tsan_read##bytes(void* place) { tg::access(ADDRESS, bytes, false, false, HERE); }                      \
    void __tsan_write##bytes(void* place) { tg::access(ADDRESS, bytes, true, false, HERE); }                      \
    void __tsan_unaligned_read##bytes(void* place) { tg::access(ADDRESS, bytes, false, false, HERE); }            \
    void __tsan_unaligned_write##bytes(void* place) { tg::access(ADDRESS, bytes, true, false, HERE); }            \
    void __tsan_volatile_read##bytes(void* place) { tg::access(ADDRESS, bytes, false, false, HERE); }             \
    void __tsan_volatile_write##bytes(void* place) { tg::access(ADDRESS, bytes, true, false, HERE); }             \
    void __tsan_unaligned_volatile_read##bytes(void* place) { tg::access(ADDRESS, bytes, false, false, HERE); }   \
    void __tsan_unaligned_volatile_write##bytes(void* place) { tg::access(ADDRESS, bytes, true, false, HERE); }

// Atomic operations of the host's own code, e.g. in <memory>.
#define ATOMIC_UPDATE(bits, type, name, does)                                       \
    type __tsan_atomic##bits##_##name(volatile type* place, type value, int order) { \
        (void)order;                                                                 \
        return does(place, value, __ATOMIC_SEQ_CST);                                 \
    }
#define ATOMICS(bits, type)                                                                                       \
    type __tsan_atomic##bits##_load(const volatile type* place, int) { return __atomic_load_n(place, 5); }        \
    void __tsan_atomic##bits##_store(volatile type* place, type value, int) { __atomic_store_n(place, value, 5); } \
    ATOMIC_UPDATE(bits, type, exchange, __atomic_exchange_n)                                                      \
    ATOMIC_UPDATE(bits, type, fetch_add, __atomic_fetch_add)                                                      \
    ATOMIC_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                                                      \
    ATOMIC_UPDATE(bits, type, fetch_and, __atomic_fetch_and)                                                      \
    ATOMIC_UPDATE(bits, type, fetch_or, __atomic_fetch_or)                                                        \
    ATOMIC_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                                                      \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type* place, type* expected, type value, int, int) { \
        return __atomic_compare_exchange_n(place, expected, value, false, 5, 5);                                  \
    }                                                                                                             \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type* place, type* expected, type value, int, int) { \
        return __atomic_compare_exchange_n(place, expected, value, true, 5, 5);                                   \
    }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void* place, size_t bytes) { tg::access(ADDRESS, bytes, false, false, HERE); }
void __tsan_write_range(void* place, size_t bytes) { tg::access(ADDRESS, bytes, true, false, HERE); }

void* __tsan_memcpy(void* place, const void* from, size_t bytes) {
    tg::access(reinterpret_cast<uintptr_t>(from), bytes, false, false, HERE);
    tg::access(ADDRESS, bytes, true, false, HERE);
    return memcpy(place, from, bytes);
}

void* __tsan_memmove(void* place, const void* from, size_t bytes) {
    tg::access(reinterpret_cast<uintptr_t>(from), bytes, false, false, HERE);
    tg::access(ADDRESS, bytes, true, false, HERE);
    return memmove(place, from, bytes);
}

void* __tsan_memset(void* place, int value, size_t bytes) {
    tg::access(ADDRESS, bytes, true, false, HERE);
    return memset(place, value, bytes);
}

LOADS_AND_STORES(1)
LOADS_AND_STORES(2)
LOADS_AND_STORES(4)
LOADS_AND_STORES(8)
LOADS_AND_STORES(16)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

// An atomic operation of the device: see tg_device.h.
void tg_atomic(const volatile void* place, size_t bytes) {
    tg::access(ADDRESS, bytes, false, true, HERE);
    tg::access(ADDRESS, bytes, true, true, HERE);
}

}  // extern "C"
