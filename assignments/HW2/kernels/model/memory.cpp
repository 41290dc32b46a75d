// The memory of the device, and the host arrays that are handed to the student's functions. Each array lies alone on
// its pages, far from the next one.

#include "model.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

namespace tg {

Arena device_memory, host_memory;
Array arrays[MOST_ARRAYS];  // the first is none
int array_count = 1;

static Cell* cells;
static int unlocked = 0;

static void* reserve(size_t bytes, int protection) {
    void* place = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        perror("the execution model has no room for its memory");
        give_up(71);
    }
    return place;
}

static Arena make_arena(int protection) {
    Arena arena;
    arena.base = static_cast<uint8_t*>(reserve(ROOM, protection));
    arena.pages = static_cast<uint16_t*>(reserve(ROOM / PAGE * sizeof(uint16_t), PROT_READ | PROT_WRITE));
    arena.used = 0;
    return arena;
}

void make_memory() {
    device_memory = make_arena(PROT_NONE);
    host_memory = make_arena(PROT_READ | PROT_WRITE);
    cells = static_cast<Cell*>(reserve(ROOM / 4 * sizeof(Cell), PROT_READ | PROT_WRITE));
}

Cell* cells_of(uintptr_t address) {
    return cells + (address - reinterpret_cast<uintptr_t>(device_memory.base)) / 4;
}

const char* space_of(Kind kind) {
    return kind == Kind::device ? "device" : kind == Kind::shared ? "shared" : "host";
}

Array* Arena::at(uintptr_t address) const {
    int number = pages[(address - reinterpret_cast<uintptr_t>(base)) / PAGE];
    return number == 0 ? nullptr : &arrays[number];
}

Array* Arena::nearest(uintptr_t address) const {
    Array* best = nullptr;
    uintptr_t least = ROOM;
    for (int i = 1; i < array_count; i++) {
        Array& array = arrays[i];
        if (!holds(array.begin)) {
            continue;
        }
        uintptr_t off = address < array.begin ? array.begin - address : address >= array.end ? address - array.end : 0;
        if (off < least) {
            least = off;
            best = &array;
        }
    }
    return best;
}

Array* make_array(size_t bytes, Kind kind, const char* name) {
    Arena& arena = kind == Kind::host ? host_memory : device_memory;
    size_t start = arena.used + GAP;
    size_t pages = bytes / PAGE + 1;
    if (bytes >= ROOM || start + (pages + 1) * PAGE + GAP > ROOM || array_count == MOST_ARRAYS) {
        return nullptr;
    }
    arena.used = start + pages * PAGE;
    Array& array = arrays[array_count];
    array = Array{};
    array.begin = reinterpret_cast<uintptr_t>(arena.base) + start;
    array.end = array.begin + bytes;
    array.kind = kind;
    array.name = name;
    for (size_t page = 0; page < pages; page++) {
        arena.pages[start / PAGE + page] = static_cast<uint16_t>(array_count);
    }
    array_count++;
    if (kind != Kind::host) {
        Unlocked memory;
        memset(reinterpret_cast<void*>(array.begin), 0xff, bytes);  // NaN: nobody has written it
    }
    return &array;
}

Unlocked::Unlocked() {
    if (unlocked++ == 0) {
        mprotect(device_memory.base, ROOM, PROT_READ | PROT_WRITE);
    }
}

Unlocked::~Unlocked() {
    if (--unlocked == 0) {
        mprotect(device_memory.base, ROOM, PROT_NONE);
    }
}

}  // namespace tg
