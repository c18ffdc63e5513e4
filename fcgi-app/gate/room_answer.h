/*
 * room_answer — answers a request that the gate did not let through: a browser gets the waiting
 * page, a program problem+json, both with Retry-After and never cacheable.
 */
#ifndef SLUICE_GATE_ROOM_ANSWER_H
#define SLUICE_GATE_ROOM_ANSWER_H

#include "fcgi-app/gate/visit.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

/** What the visitor waits for: selects the part of the page to show and the problem for a
 *  program. */
enum face {
    FACE_JOIN,  /* no place yet: the page takes one once the browser has proved to keep cookies */
    FACE_PROOF, /* a place costs a proof of work, which the page does */
    FACE_WAITING,
    FACE_READY,
    FACE_PRE_OPEN,
    FACE_PAUSED,
    FACE_HOLD,
    FACE_SOLD_OUT,
    FACE_CLOSED,
    FACE_TAKEN_OVER,
    FACE_COOKIES,
    FACE_LOGIN, /* the queue is for members, and the visitor is not logged in */
    FACE_FULL,
    FACE_UNAVAILABLE,
    FACE_UNSAFE, /* a form was sent: it is never sent twice, nor lost silently */
    FACE_NOT_CONFIGURED
};

/** Answers. `position` is NULL if the place is unknown; a program gets NOT_ENTERED if there is
 *  certainly none. Cookies are to be set afterwards. */
void room_answer(const struct services *services, const struct request *request,
                 struct response *response, const struct visit *visit, enum face face,
                 const struct line_position *position);

/** The face for `position`, by the state of the queue. `hold`: activation is hold. */
enum face room_face_of(const struct line_position *position, bool hold);

#endif
