// Asks the kernel, without the C library in between, for what a sandboxed program has no business with.
#include <stdio.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static long tg_call(long number, long a, long b, long c, long d) {
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}
#else
long syscall(long number, ...);
#define tg_call syscall
#endif

static int tg_allowed(void) {
    int allowed = 0;
    allowed += tg_call(SYS_mount, (long)"none", (long)"/tmp", (long)"tmpfs", 0) >= 0;
    allowed += tg_call(SYS_umount2, (long)"/tmp", 2, 0, 0) >= 0;
    allowed += tg_call(SYS_chroot, (long)"/tmp", 0, 0, 0) >= 0;
    allowed += tg_call(SYS_setuid, 0, 0, 0, 0) >= 0;
    allowed += tg_call(SYS_sethostname, (long)"@MARK@", 4, 0, 0) >= 0;
    allowed += tg_call(SYS_init_module, 0, 0, (long)"", 0) >= 0;
    allowed += tg_call(SYS_bpf, 0, 0, 0, 0) >= 0;
    allowed += tg_call(SYS_open_by_handle_at, -100, 0, 0, 0) >= 0;
    allowed += tg_call(SYS_settimeofday, 0, 0, 0, 0) > 0;
    allowed += tg_call(SYS_swapon, (long)"/tmp", 0, 0, 0) >= 0;
    allowed += tg_call(SYS_reboot, 0xfee1dead, 672274793, 0, 0) >= 0;
    allowed += tg_call(SYS_setpriority, 0, 0, -20, 0) >= 0;
    if (allowed) { printf("allowed: %d\n", allowed); }
    return allowed;
}
