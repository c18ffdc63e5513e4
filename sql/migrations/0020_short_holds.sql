-- 0020_short_holds: a hold may be as short as a second.
-- Purpose   a sale may give seats out as briefly as a queue gives entry tokens; who has ordered keeps them by the order
-- Locks     ACCESS EXCLUSIVE on show, while its rows are read once: thousands at most
-- Undo      a new migration that puts the older constraint in its place

ALTER TABLE show
    DROP CONSTRAINT show_hold_ttl_check,
    ADD CONSTRAINT show_hold_ttl_check CHECK (hold_ttl_seconds BETWEEN 1 AND 3600);
