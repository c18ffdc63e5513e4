/*
 * listener — the listening socket on file descriptor 0, as spawn-fcgi passes it, and the
 * FastCGI connections accepted from it.
 */
#ifndef SLUICE_POOL_LISTENER_H
#define SLUICE_POOL_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include <fcgiapp.h>

enum { LISTENER_FD = 0 };

/** Whether fd 0 is a listening socket: then a pool's keeper has started this process. */
bool listener_is_given(void);

/** Makes the socket non-blocking and raises the limit of file descriptors to the system's maximum.
 *  Returns false if fd 0 is no listening socket. */
bool listener_prepare(void);

/** Accepts one connection, with a time limit of 2 s on each read and write. Returns its file
 *  descriptor, -1 with errno; EAGAIN if none is waiting. */
int listener_accept(void);

/** How many milliseconds the data on the connection `fd` has waited to be read, from the kernel; -1
 *  for a Unix socket, where nginx runs on this host and shares its clock. */
int64_t listener_waited_ms(int fd);

/** Prepares `fcgi` to read its next request from the connection `fd`: FCGX_Accept_r() then neither
 *  accepts another connection nor lingers when it closes this one. */
void listener_attach(FCGX_Request *fcgi, int fd);

#endif
