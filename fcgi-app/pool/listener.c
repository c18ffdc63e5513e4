#include "fcgi-app/pool/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { IO_TIMEOUT_S = 2 };

/* A Unix socket does not report how long data has waited: no need to query it for each
 * connection. */
static bool is_of_tcp;

/* Each connection is a file descriptor, and the usual limit of 1024 is below what nginx may keep
 * alive. */
static void raise_the_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool listener_is_given(void)
{
    int listens = 0;
    socklen_t size = sizeof(listens);

    return getsockopt(LISTENER_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

bool listener_prepare(void)
{
    int domain = AF_UNSPEC;
    socklen_t size = sizeof(domain);

    if (!listener_is_given()) {
        return false;
    }
    is_of_tcp =
        getsockopt(LISTENER_FD, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX;
    raise_the_limit();
    int flags = fcntl(LISTENER_FD, F_GETFL);
    return flags >= 0 && fcntl(LISTENER_FD, F_SETFL, flags | O_NONBLOCK) == 0;
}

int64_t listener_waited_ms(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);

    if (!is_of_tcp || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return -1;
    }
    return info.tcpi_last_data_recv;
}

int listener_accept(void)
{
    const struct timeval limit = {.tv_sec = IO_TIMEOUT_S};
    int fd = accept4(LISTENER_FD, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    }
    return fd;
}

void listener_attach(FCGX_Request *fcgi, int fd)
{
    (void)FCGX_InitRequest(fcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR);
    fcgi->ipcFd = fd;
    fcgi->keepConnection = 1;
    FCGX_Detach(fcgi);
}
