// What the program and the code behind the student's file say to one another.

#pragma once

namespace tg {

// An argument as it comes in a case.
struct Argument {
    float* floats;
    int* ints;
    float real;
    int whole;
};

void tell_signature(const char* function, int parameter, const char* declared);

}  // namespace tg

// Makes a call; says false where the student's file has no such function.
extern "C" bool tg_call(int function, const ::tg::Argument* arguments);
