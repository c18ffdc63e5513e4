/*
 * member_token — the login of a simulated member: a JWT as a shop's own login would issue it.
 */
#ifndef SLUICE_DEMO_MEMBER_TOKEN_H
#define SLUICE_DEMO_MEMBER_TOKEN_H

#include "lib/identity/mac_key.h"

enum { MEMBER_TOKEN_TEXT = 512 };

/** Writes a JWT (HS256 under `key`) for `member`, an id of the contract's alphabet, valid for an
 *  hour. */
void member_token_sign(struct mac_key *key, const char *member, char token[MEMBER_TOKEN_TEXT]);

#endif
