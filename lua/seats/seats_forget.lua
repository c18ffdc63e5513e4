#!lua
-- seats_forget: deletes a show that is not sold through this queue any more.
--@keys show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken show:owned
--@args
-- Returns {OK}.
-- Safe because it is called only where PostgreSQL has the show in another queue, whose keys are others.
redis.call('UNLINK', key_show_info, key_show_plan, key_show_planNext, key_show_board, key_show_boardNext, key_show_held,
    key_show_holds, key_show_mine, key_show_taken, key_show_owned)
return { 'OK' }
