#include "fcgi-app/pool/connection.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fcgi-app/pool/fcgi_records.h"
#include "fcgi-app/pool/listener.h"
#include "lib/base/buffer.h"

enum { BUSY_FOR_AN_ACCEPT = 16 };

/* Takes a free slot for `fd`; NULL if there is none. */
static struct connection *take_slot(struct connection_table *table, int fd, int64_t now_ms)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &table->all[(table->hint + i) % CONNECTIONS_MAX];
        if (connection->state == CONNECTION_FREE) {
            table->hint = (table->hint + i + 1) % CONNECTIONS_MAX;
            bool is_due = connection->is_due;
            *connection = (struct connection){
                .state = CONNECTION_IDLE, .is_due = is_due, .idle_since_ms = now_ms};
            listener_attach(&connection->fcgi, fd);
            table->open++;
            return connection;
        }
    }
    return NULL;
}

/* libfcgi has closed the file descriptor, or the caller has. */
static void release_slot(struct connection_table *table, struct connection *connection)
{
    table->busy -= connection->state == CONNECTION_BUSY ? 1 : 0;
    table->open--;
    connection->state = CONNECTION_FREE;
}

void connection_close(struct connection_table *table, struct connection *connection)
{
    FCGX_Free(&connection->fcgi, 1);
    release_slot(table, connection);
}

static void watch(struct connection_table *table, int epoll_fd, int fd, int64_t now_ms)
{
    struct connection *connection = take_slot(table, fd, now_ms);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = connection};

    if (connection == NULL) {
        (void)close(fd);
    } else if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        connection_close(table, connection);
    }
}

enum accepted connections_accept(struct connection_table *table, int epoll_fd, int64_t now_ms)
{
    size_t most = 1 + table->busy / BUSY_FOR_AN_ACCEPT;

    for (size_t i = 0; i < most && table->open < CONNECTIONS_MAX; i++) {
        int fd = listener_accept();
        if (fd < 0) {
            bool is_usual = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
            return is_usual ? ACCEPTED_ALL : ACCEPTED_NONE;
        }
        watch(table, epoll_fd, fd, now_ms);
    }
    return ACCEPTED_SOME;
}

bool connection_read(struct connection_table *table, struct connection *connection)
{
    connection->partial_since_ms = 0;
    if (FCGX_Accept_r(&connection->fcgi) != 0) {
        release_slot(table, connection);
        return false;
    }
    connection->state = CONNECTION_BUSY;
    table->busy++;
    return true;
}

void connection_finish(struct connection_table *table, struct connection *connection,
                       int64_t now_ms)
{
    FCGX_Finish_r(&connection->fcgi);
    if (connection->fcgi.ipcFd < 0) {
        release_slot(table, connection);
        return;
    }
    table->busy--;
    connection->state = CONNECTION_IDLE;
    connection->idle_since_ms = now_ms;
}

void connection_finish_last(struct connection_table *table, struct connection *connection,
                            struct str answer)
{
    struct buffer records;

    buffer_init(&records, 2 * answer.n + 1024);
    fcgi_records_add_last_answer(&records, connection->fcgi.requestId, answer);
    size_t sent = 0;
    while (sent < records.length) {
        ssize_t n =
            send(connection->fcgi.ipcFd, records.bytes + sent, records.length - sent, MSG_NOSIGNAL);
        if (n <= 0) {
            break;
        }
        sent += (size_t)n;
    }
    buffer_free(&records);
    connection_close(table, connection);
}
