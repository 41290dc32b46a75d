// Whether anybody outside can be talked to.
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int tg_reaches(int family, const void *address, socklen_t length) {
    int s = socket(family, SOCK_STREAM, 0);
    if (s < 0) { return 0; }
    int reached = connect(s, address, length) == 0;
    close(s);
    return reached;
}

static int tg_connected(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(@PORT@)};
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    struct addrinfo *found = NULL;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memcpy(abstract.sun_path + 1, "@MARK@", strlen("@MARK@"));
    int reached = tg_reaches(AF_INET, &here, sizeof(here));
    here.sin_addr.s_addr = htonl(0x08080808);
    here.sin_port = htons(53);
    reached += tg_reaches(AF_INET, &here, sizeof(here));
    reached += tg_reaches(AF_UNIX, &abstract, offsetof(struct sockaddr_un, sun_path) + 1 + strlen("@MARK@"));
    return reached + (getaddrinfo("example.org", "80", NULL, &found) == 0);
}
