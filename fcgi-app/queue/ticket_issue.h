/*
 * ticket_issue — issues the queue ticket for a place just entered or proven.
 */
#ifndef SLUICE_QUEUE_TICKET_ISSUE_H
#define SLUICE_QUEUE_TICKET_ISSUE_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line/line.h"

/** The signed ticket for the place in `position` of `caller`, in the request's arena; empty if it
 *  could not be signed. If it replaces an earlier one, this host's snapshot no longer vouches for
 *  the number. */
struct str ticket_issue(const struct services *services, const struct request *request,
                        const struct line_caller *caller, const struct line_position *position);

#endif
