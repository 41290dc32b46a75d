// Leaves behind what a check may leave behind: files, shared memory, queues, semaphores, sockets, processes.
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void tg_files_left(void) {
    const char *places[] = {"/tmp/@MARK@", "/var/tmp/@MARK@", "/dev/shm/@MARK@", "/run/@MARK@", "@HOME@/@MARK@", "@ROOT@/@MARK@",
                            "@MARK@",      "../@MARK@",       "../../@MARK@",    "/var/spool/cron/crontabs/@MARK@"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int file = open(places[i], O_CREAT | O_WRONLY, 0666);
        if (file >= 0) { dprintf(file, "left\n"), close(file); }
    }
}

static void tg_ipc_left(void) {
    shmget(0x74670001, 1 << 16, IPC_CREAT | 0666);
    semget(0x74670002, 4, IPC_CREAT | 0666);
    msgget(0x74670003, IPC_CREAT | 0666);
    shm_open("/@MARK@", O_CREAT | O_RDWR, 0666);
    sem_open("/@MARK@", O_CREAT, 0666, 1);
    mq_open("/@MARK@", O_CREAT | O_RDWR, 0666, NULL);
}

// Three generations, each in a session of its own, deaf to every signal that can be ignored.
static void tg_processes_left(void) {
    for (int generation = 0; generation < 3; generation++) {
        if (fork() != 0) {
            if (generation == 0) { return; }
            continue;
        }
        setsid();
        prctl(PR_SET_NAME, "@MARK@");
        for (int number = 1; number < 32; number++) { signal(number, SIG_IGN); }
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path + 1, "@MARK@", strlen("@MARK@"));
    bind(s, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + strlen("@MARK@"));
    listen(s, 1);
    for (;;) { sleep(60); }
}

static void tg_leave(void) {
    tg_files_left();
    tg_ipc_left();
    tg_processes_left();
}
