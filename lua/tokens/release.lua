#!lua
-- release: makes the token READY again after the transaction has rolled back.
--@keys settings state places ready claimed orderLoad
--@args member admission claim load
-- load: see include order_load.
-- Returns {RELEASED}, {NOT_CLAIMED} where this claim does not hold the token any more, or NOT_FOUND.
-- Safe because it names admission and claim, see include give_token_back: a late call never frees another order's claim.
--@include clock
--@include places
--@include give_token_back
--@include order_load

note_load()
return give_token_back()
