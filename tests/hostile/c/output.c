// Puts something else where the tensors are to be handed back, before they are.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void tg_each(void (*spoil)(const char *)) {
    char name[32];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "%d.tensors", i);
        unlink(name);
        spoil(name);
    }
}

__attribute__((unused)) static void tg_folder(const char *name) { mkdir(name, 0700); }
__attribute__((unused)) static void tg_pipe(const char *name) { mkfifo(name, 0600); }
__attribute__((unused)) static void tg_link(const char *name) { (void)!symlink("elsewhere", name); }
__attribute__((unused)) static void tg_link_out(const char *name) { (void)!symlink("@ROOT@/tolerances.yaml", name); }
__attribute__((unused)) static void tg_closed(const char *name) { close(open(name, O_CREAT | O_WRONLY, 0)); }
