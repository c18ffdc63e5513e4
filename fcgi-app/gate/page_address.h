/*
 * page_address — the page of this host that a request was sent from, so that the way back never
 * leads to another host.
 */
#ifndef SLUICE_GATE_PAGE_ADDRESS_H
#define SLUICE_GATE_PAGE_ADDRESS_H

#include "fcgi-app/http/request.h"

/** Path and query of the Referer if it names this host (SLUICE_HOST, as the client sent it), else
 *  "/". In the request's arena. To be called only while the request begins. */
struct str page_address(const struct request *request);

#endif
