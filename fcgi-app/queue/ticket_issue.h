/*
 * ticket_issue — the queue ticket for a place that somebody has just entered or shown to hold.
 */
#ifndef SLUICE_QUEUE_TICKET_ISSUE_H
#define SLUICE_QUEUE_TICKET_ISSUE_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line.h"

/** The signed ticket for the place in `position` of `caller`, in the request's arena; empty
 *  where it could not be signed. Where it replaces an earlier one, this host's snapshot no
 *  longer vouches for the number. */
struct str ticket_issue(const struct services *services, const struct request *request,
                        const struct line_caller *caller, const struct line_position *position);

#endif
