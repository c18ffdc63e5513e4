#include "fcgi-app/pool/connection.h"

#include "fcgi-app/pool/listener.h"

struct connection *connection_open(struct connection_table *table, int fd, int64_t now_ms)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &table->all[i];
        if (connection->state == CONNECTION_FREE) {
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

/* libfcgi has closed the file descriptor, or it is closed here. */
static void forget(struct connection_table *table, struct connection *connection)
{
    table->busy -= connection->state == CONNECTION_BUSY ? 1 : 0;
    table->open--;
    connection->state = CONNECTION_FREE;
}

void connection_close(struct connection_table *table, struct connection *connection)
{
    FCGX_Free(&connection->fcgi, 1);
    forget(table, connection);
}

bool connection_read(struct connection_table *table, struct connection *connection)
{
    connection->partial_since_ms = 0;
    if (FCGX_Accept_r(&connection->fcgi) != 0) {
        forget(table, connection);
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
        forget(table, connection);
        return;
    }
    table->busy--;
    connection->state = CONNECTION_IDLE;
    connection->idle_since_ms = now_ms;
}

void connection_finish_last(struct connection_table *table, struct connection *connection)
{
    (void)FCGX_FFlush(connection->fcgi.out);
    connection_close(table, connection);
}
