// Whether anything can be seen that is none of its business: the judge's side, other processes, secrets.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tg_there(const char *path) {
    int file = open(path, O_RDONLY);
    if (file < 0) { return 0; }
    close(file);
    return 1;
}

static int tg_holds(const char *path, const char *what) {
    static char text[1 << 16];
    int file = open(path, O_RDONLY);
    if (file < 0) { return 0; }
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    return length > 0 && memmem(text, (size_t)length, what, strlen(what)) != NULL;
}

static int tg_files_seen(void) {
    const char *paths[] = {
        "@ROOT@/tolerances.yaml",      "@ROOT@/grader/judge.py",
        "@ROOT@/reference/A2",         "@ROOT@/fixtures/A2/public/expected",
        "@ROOT@/fixtures/A2/public/manifest.json", "@ROOT@/student_template",
        "@ROOT@/.git",                 "@GRADE@/stamp",
        "@HOME@/.netrc",               "@OTHER@/train_gpt2.c",
        "/etc/passwd",                 "/etc/shadow",
        "/etc/hosts",                  "/var/log",
        "/run",                        "/sys/kernel",
        "/proc/1/root/etc/passwd",     "/dev/mem",
        "/dev/kmsg",                   "/dev/vda",
    };
    int seen = 0;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (tg_there(paths[i])) { seen++, printf("seen: %s\n", paths[i]); }
    }
    return seen;
}

// In each process that can be seen, a file of /proc that holds this.
static int tg_processes_with(const char *name, const char *what) {
    char path[300];
    int seen = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') { continue; }
        snprintf(path, sizeof(path), "/proc/%.20s/%s", entry->d_name, name);
        if (tg_holds(path, what)) { seen++, printf("seen: %s\n", path); }
    }
    if (folder) { closedir(folder); }
    return seen;
}

__attribute__((unused)) static int tg_processes_seen(void) {
    return tg_processes_with("cmdline", "grader") + tg_processes_with("cmdline", "pytest");
}

static int tg_secrets_seen(void) {
    const char *names[] = {"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GH_TOKEN", "API_KEY", "HOME", "GRADE_HOME"};
    int seen = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) { seen += getenv(names[i]) != NULL; }
    return seen + tg_processes_with("environ", "tensorgrade-secret");
}

__attribute__((unused)) static int tg_seen(void) { return tg_files_seen() + tg_secrets_seen(); }

// The process that looks after the cases: its memory holds what it will say of them.
__attribute__((unused)) static int tg_parent_seen(void) {
    const char *parts[] = {"mem", "maps", "environ", "fd", "root"};
    char path[64];
    int seen = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        snprintf(path, sizeof(path), "/proc/%d/%s", getppid(), parts[i]);
        int file = open(path, i == 0 ? O_RDWR : O_RDONLY);
        if (file >= 0) { seen++, printf("seen: %s\n", path); }
    }
    return seen;
}
