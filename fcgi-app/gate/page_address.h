/*
 * page_address — the page of this host that a request was sent from, for a way back that leads
 * nowhere else.
 */
#ifndef SLUICE_GATE_PAGE_ADDRESS_H
#define SLUICE_GATE_PAGE_ADDRESS_H

#include "fcgi-app/http/request.h"

/** Path and query of the Referer where it names this host (SLUICE_HOST, as the client sent it),
 *  else "/". In the request's arena. Only while the request is being begun. */
struct str page_address(const struct request *request);

#endif
