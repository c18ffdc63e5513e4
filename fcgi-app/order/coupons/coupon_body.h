/*
 * coupon_body — the body of a request for a coupon: {"captcha": solution}, or {}.
 */
#ifndef SLUICE_ORDER_COUPON_BODY_H
#define SLUICE_ORDER_COUPON_BODY_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/str.h"

/** Reads the body; `*captcha` is borrowed from it, at most 16 KiB, empty if there is none. Returns
 *  false if `response` is already complete: INVALID_REQUEST. */
bool coupon_body_read(const struct request *request, struct response *response,
                      struct str *captcha);

#endif
