-- own_seats: the seats that a member has ordered. Needs KEYS show:owned.
local function own_seats(member)
    local seats = {}
    for seat in string.gmatch(redis.call('HGET', key_show_owned, member) or '', '%S+') do
        seats[#seats + 1] = seat
    end
    return seats
end
