/*
 * entry_proof — the proof of work that a new place costs in a queue whose entryCaptcha is altcha
 * (lib/captcha/altcha.h). It is bound to one caller at one queue, and signed by the keys of queue
 * tickets: issuing and verifying it need no store. lua/line/enter.lua decides whether one is
 * required, and that each counts once.
 */
#ifndef SLUICE_QUEUE_ENTRY_PROOF_H
#define SLUICE_QUEUE_ENTRY_PROOF_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line/line.h"

/** Verifies `solution`, the member `captcha` of the body. Returns the proof's name, in the arena;
 *  empty if it is not valid, and `*why` then gets a sentence. */
struct str entry_proof_check(const struct services *services, const struct request *request,
                             const struct line_caller *caller, struct str solution,
                             const char **why);

/** Answers CAPTCHA_FAILED, which says where to get a challenge. */
void entry_proof_wanted(const struct request *request, struct response *response, struct str queue,
                        const char *why);

/** Appends a challenge for `caller`, as ALTCHA's JSON. */
void entry_proof_challenge(const struct services *services, const struct request *request,
                           const struct line_caller *caller, struct buffer *out);

#endif
