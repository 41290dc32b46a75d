// Reaches the interpreter that called it, which lies in the same process, and has it run code.
#include <dlfcn.h>

static void tg_python(const char *code) {
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    int (*run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    if (!ensure || !release || !run) { return; }
    int state = ensure();
    run(code);
    release(state);
}
