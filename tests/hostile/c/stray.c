// Leaves a process behind that is another one at each moment, and that rewrites the statuses for as long as it lives.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tg_stray(void) {
    if (fork() != 0) { return; }
    setsid();
    for (;;) {
        if (fork() != 0) { _exit(0); }
        usleep(200);
        int file = open("status.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0600);
        dprintf(file, "{\"case\": \"encoder_backward/small\", \"status\": \"ok\", \"advice\": [\"forged-by-a-stray\"]}\n");
        dprintf(file, "{\"case\": \"encoder_backward/tails\", \"status\": \"ok\", \"advice\": [\"forged-by-a-stray\"]}\n");
        close(file);
    }
}
