#!lua
-- seats_forget: the show is not sold through this queue any more.
--@keys show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken show:owned
--@args
-- Returns {OK}.
-- Safe because it is called only for a show that PostgreSQL knows in another queue.
redis.call('UNLINK', key_show_info, key_show_plan, key_show_planNext, key_show_board, key_show_boardNext, key_show_held,
    key_show_holds, key_show_mine, key_show_taken, key_show_owned)
return { 'OK' }
