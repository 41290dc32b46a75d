// What the compiler's checks for undefined behaviour call; in place of UndefinedBehaviorSanitizer's runtime.

#include "model.h"

namespace {

struct Place {
    const char* file;
    uint32_t line, column;
};

struct Type {
    uint16_t kind, info;
    char name[1];
};

struct OutOfBounds {
    Place place;
    const Type* array;
    const Type* index;
};

struct Overflow {
    Place place;
    const Type* type;
};

struct Shift {
    Place place;
    const Type *left, *right;
};

void tell(const char* kind, const Place& place, const Type* type, uintptr_t value) {
    tg::Finding f{kind};
    f.text = type == nullptr ? "" : type->name;
    f.count = static_cast<int>(value);
    f.line = static_cast<int>(place.line);
    if (tg::now.in_kernel) {
        f.who = tg::who();
    }
    tg::tell(f);
}

}  // namespace

extern "C" {

void __ubsan_handle_out_of_bounds(OutOfBounds* found, uintptr_t index) { tell("index", found->place, found->array, index); }

void __ubsan_handle_divrem_overflow(Overflow* found, uintptr_t, uintptr_t by) {
    tell("division", found->place, found->type, by);
    tg::give_up(75);
}

void __ubsan_handle_shift_out_of_bounds(Shift* found, uintptr_t, uintptr_t by) {
    tell("shift", found->place, found->left, by);
}

void __ubsan_handle_add_overflow(Overflow* found, uintptr_t, uintptr_t) { tell("overflow", found->place, found->type, 0); }
void __ubsan_handle_sub_overflow(Overflow* found, uintptr_t, uintptr_t) { tell("overflow", found->place, found->type, 0); }
void __ubsan_handle_mul_overflow(Overflow* found, uintptr_t, uintptr_t) { tell("overflow", found->place, found->type, 0); }
void __ubsan_handle_negate_overflow(Overflow* found, uintptr_t) { tell("overflow", found->place, found->type, 0); }

}  // extern "C"
