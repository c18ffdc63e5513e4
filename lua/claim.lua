#!lua
-- claim: an order (or a coupon) takes hold of an entry token for the length of its transaction.
--@keys settings state places ready pickup claimed tombstones
--@args member admission claim keyHash leastLeaseMs
-- admission: SHA-256 of the token presented; keyHash: SHA-256 of the idempotency key, '' without one;
-- leastLeaseMs: a transaction and its repeat may take so long, whatever claimLeaseSeconds says.
-- Returns {CLAIMED, lease ms, seq, epoch, incarnation, releaseOn}, {REPLAY, order id} for a token spent
-- under the very same key, or ORDER_IN_PROGRESS, ORDER_CAPACITY, ENTRY_TOKEN_INVALID, NOT_FOUND.
-- Safe because looking at the token, counting those in flight and taking it are one step. The token's
-- clock stops while it is CLAIMED: what is left of its life is kept in the record.
--@include queue
--@include places
--@include token
--@include take

return take_token()
