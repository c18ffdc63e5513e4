/*
 * sluice-hello — the smallest blocking FastCGI worker: a constant answer, on file descriptor 0 as
 * spawn-fcgi passes it. Measures the overhead of any worker that uses libfcgi.
 */
#include <fcgiapp.h>

int main(void)
{
    FCGX_Request request;

    if (FCGX_Init() != 0 || FCGX_InitRequest(&request, 0, 0) != 0) {
        return 1;
    }
    while (FCGX_Accept_r(&request) == 0) {
        FCGX_PutS("Content-Type: application/json\r\n\r\n{\"rank\":12345,\"status\":\"WAITING\"}",
                  request.out);
        FCGX_Finish_r(&request);
    }
    return 0;
}
