/*
 * The admission protocol as a model for spin: members, two schedulers, order workers, reconcile, a Redis that may
 * lose everything, and processes that may die or stand still between any two of their steps.
 *
 * What is one step here is one step there: a script of lua/, or a transaction of PostgreSQL. Where a transaction
 * makes others wait, it is two steps with its locks between them. README.md maps each step to the code.
 *
 * The promises are assertions: ORDER, RATE, ROOM and ONCE where something is given out, LOST at the end of every
 * run, when nobody has anything left to do. -DFAULT_… leaves one thing out of the protocol: spin must find what
 * that breaks.
 */

#ifndef MEMBERS
#define MEMBERS 2 /* at most MOST_MEMBERS: some expressions below name each of them */
#endif
#define MOST_MEMBERS 3
#ifndef RETURNING
#define RETURNING 1 /* so many of them enter once more after their order */
#endif
#ifndef SCHEDULERS
#define SCHEDULERS 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#define BURST      1
#define MAX_ACTIVE 2

/* How often each thing may go wrong in one run. */
#ifndef CRASHES
#define CRASHES 1 /* of a worker or of reconcile */
#endif
#ifndef ROLLBACKS
#define ROLLBACKS 1
#endif
#ifndef LOSSES
#define LOSSES 1 /* Redis forgets everything */
#endif
#ifndef OVERRUNS
#define OVERRUNS 1 /* leases that run out while the worker lives */
#endif
#ifndef EXPIRIES
#define EXPIRIES 1 /* entry tokens that run out */
#endif
#ifndef SETBACKS
#define SETBACKS 1 /* Redis loses its last second only: a claim, or a token's end */
#endif
#ifndef PAUSES
#define PAUSES 1 /* leader locks that run out while the leader lives */
#endif

/* After a loss numbers begin above all that were given out before. */
#define ENTRIES    (MEMBERS + RETURNING)
#define NUMBERS    (ENTRIES * (1 + LOSSES) + 1)
/* Admissions and claims are told apart by what they are of, so that runs which differ in nothing else meet. */
#define ADMISSIONS       (NUMBERS * (1 + LOSSES))
#define CLAIMS_OF_ONE    (1 + CRASHES + ROLLBACKS + OVERRUNS + SETBACKS + WORKERS)
#define CLAIMS           (ADMISSIONS * CLAIMS_OF_ONE)
#define ADMISSION_OF(n)  (n + NUMBERS * (LOSSES - losses))
#define CLAIM_OF(a)      (a * CLAIMS_OF_ONE + claims_made[a])

#define NOBODY  255
#define NONE    0
#define WAITING 1
#define READY   2
#define CLAIMED 3

/* Redis. */
bool present = true;
byte redis_incarnation = 1;
byte prepared_for;
byte sequence;
byte bucket = BURST;
byte leader = NOBODY;
byte place[MOST_MEMBERS];
byte number[MOST_MEMBERS];
byte admission[MOST_MEMBERS];
byte claim[MOST_MEMBERS];
bool seated[NUMBERS];
bool seated_next[NUMBERS]; /* of the line that is prepared */

/* PostgreSQL; a claim's outcome is 0 until one of the two is put down. */
#define COMMITTED 1
#define RELEASED  2
byte incarnation = 1;
byte claim_outcome[CLAIMS];
bool admission_use[ADMISSIONS];
bool spent_number[NUMBERS];
bool outbox[ADMISSIONS];
byte outbox_rows;
/* Locks of running transactions: on claim ids, on admission ids, and the queue's advisory lock, shared. */
bool claim_locked[CLAIMS];
bool admission_locked[ADMISSIONS];
byte sharing;

/* Members' tickets: number, and the incarnation under which it was signed. 0: none. */
byte ticket[MOST_MEMBERS];
byte ticket_incarnation[MOST_MEMBERS];

/* What really happens; no program looks at these. */
byte crashes = CRASHES;
byte rollbacks = ROLLBACKS;
byte losses = LOSSES;
byte overruns = OVERRUNS;
byte expiries = EXPIRIES;
byte setbacks = SETBACKS;
byte pauses = PAUSES;
byte claims_made[ADMISSIONS];
byte owner_of[NUMBERS];
bool orphaned[CLAIMS];  /* the worker of this claim died */
bool forgotten[CLAIMS]; /* Redis has lost this claim */
byte visits[MOST_MEMBERS];  /* how often each has entered */
bool in_line[MOST_MEMBERS]; /* entered, and not let in since, or let in to something that was lost */
bool owed[MOST_MEMBERS];    /* entered, and neither ordered nor run out of time */
bool used[NUMBERS];    /* an order was made by this number */
byte credit = BURST;   /* what the rate has brought */
#if SETBACKS > 0
byte last_consumed; /* the admission that was consumed last, 0 before */
#endif

#define ANY_WAITING (place[0] == WAITING || place[1] == WAITING || place[2] == WAITING)
#define IS_ACTIVE(m) (place[m] >= READY -> 1 : 0)
#define ACTIVE       (IS_ACTIVE(0) + IS_ACTIVE(1) + IS_ACTIVE(2))
/* Whether somebody has asked since Redis came back, or has nothing to ask for. */
#define IS_BACK(m) (!owed[m] || ticket_incarnation[m] == redis_incarnation)
#ifdef FAULT_NO_RECOVERY_WAIT
#define ALL_BACK true
#else
#define ALL_BACK (IS_BACK(0) && IS_BACK(1) && IS_BACK(2))
#endif

inline forget_place(m)
{
    place[m] = NONE;
    number[m] = 0;
    admission[m] = 0;
    claim[m] = 0
}

/* lua/tokens/consume.lua */
inline consume(m, a)
{
    if
#ifdef FAULT_CONSUME_BY_MEMBER
    :: present && place[m] >= READY ->
#else
    :: present && place[m] >= READY && admission[m] == a ->
#endif
#if SETBACKS > 0
        last_consumed = admission[m];
#endif
        seated[number[m]] = true;
        forget_place(m)
    :: else
    fi
}

/* lua/tokens/release.lua */
inline release(m, a, c)
{
    if
#ifdef FAULT_RELEASE_BY_MEMBER
    :: present && place[m] == CLAIMED ->
#else
    :: present && place[m] == CLAIMED && admission[m] == a && claim[m] == c ->
#endif
        place[m] = READY;
        claim[m] = 0
    :: else
    fi
}

active [MEMBERS] proctype Member()
{
    byte me = _pid;

end:
    do
    :: d_step {
        /* lua/line/enter.lua */
        present && !owed[me] && place[me] == NONE && visits[me] < 1 + (me < RETURNING -> 1 : 0) &&
            (me == 0 || visits[me - 1 + (me == 0 -> 1 : 0)] > 0) -> /* the names of members do not matter */
        visits[me]++;
        sequence++;
        place[me] = WAITING;
        number[me] = sequence;
        owner_of[sequence] = me;
        ticket[me] = sequence;
        ticket_incarnation[me] = redis_incarnation;
        in_line[me] = true;
        owed[me] = true;
        /* ONCE: a number has one owner. */
        assert(!used[sequence])
    }
    :: d_step {
        /* lua/line/position.lua with lua/include/seat_again.lua: the first poll after Redis came back. */
        present && ticket[me] != 0 && ticket_incarnation[me] != redis_incarnation ->
        ticket_incarnation[me] = redis_incarnation;
        if
        :: place[me] == NONE && !seated[ticket[me]] ->
            seated[ticket[me]] = true;
            place[me] = WAITING;
            number[me] = ticket[me];
            in_line[me] = true;
            owed[me] = true;
            sequence = (sequence < ticket[me] -> ticket[me] : sequence)
        :: else
        fi
    }
    od
}

/* The time that refills the bucket. */
active proctype Clock()
{
end:
    do
    :: d_step {
        present && bucket < BURST ->
        bucket++;
        credit = (credit < BURST -> credit + 1 : BURST)
    }
    od
}

active [SCHEDULERS] proctype Scheduler()
{
    byte me = _pid;
    byte m;
    byte first;
    bool leads = false;
    bool may = false;

end:
    do
    :: d_step {
        /* lua/line/leader_acquire.lua */
        present && leader == NOBODY && !leads ->
        leader = me;
        leads = true
    }
    :: d_step { leads && leader == me && pauses > 0 -> pauses--; leader = NOBODY }
    :: d_step { leads && leader != me -> leads = false; may = false }
#ifdef FAULT_LOOK_THEN_ACT
    :: d_step { leads && present && bucket > 0 && !may -> may = true }
    :: d_step {
        leads && present && may && ANY_WAITING && ACTIVE < MAX_ACTIVE && ALL_BACK ->
        may = false;
        bucket = (bucket > 0 -> bucket - 1 : 0);
#else
    :: d_step {
        /* lua/line/promote.lua */
        leads && present && leader == me && ANY_WAITING && bucket > 0 && ACTIVE < MAX_ACTIVE && ALL_BACK ->
        bucket--;
#endif
        first = NOBODY;
        m = 0;
        do
        :: m < MEMBERS ->
            if
#ifdef FAULT_LAST_FIRST
            :: place[m] == WAITING && (first == NOBODY || number[m] > number[first]) -> first = m
#else
            :: place[m] == WAITING && (first == NOBODY || number[m] < number[first]) -> first = m
#endif
            :: else
            fi;
            m++
        :: else -> break
        od;
        /* RATE: no more than came in, whoever leads and whatever was lost. */
        assert(credit > 0);
        credit--;
        /* ROOM: no more than there are places. */
        assert(ACTIVE < MAX_ACTIVE);
        /* ORDER: nobody who is in line holds a smaller number. */
        m = 0;
        do
        :: m < MEMBERS -> assert(!in_line[m] || ticket[first] <= ticket[m]); m++
        :: else -> break
        od;
        /* ONCE: nobody is let in again by a number that has an order. */
        assert(!used[number[first]]);
        place[first] = READY;
        admission[first] = ADMISSION_OF(number[first]);
        in_line[first] = false;
        m = 0;
        first = 0
    }
    :: d_step {
        /* lua/include/collect_expired.lua: a token that has run out. A claimed one never does. */
        leads && present && leader == me && expiries > 0 &&
            (place[0] == READY || place[1] == READY || place[2] == READY) ->
        expiries--;
        m = 0;
        do
        :: place[m] == READY -> break
        :: else -> m++
        od;
        seated[number[m]] = true;
        owed[m] = false;
        forget_place(m);
        m = 0
    }
    od
}

active [WORKERS] proctype Worker()
{
    byte m;
    byte a;
    byte c;
    byte n;
    byte under; /* the incarnation in which the token was claimed */

end:
    do
    :: atomic {
        /* lua/tokens/claim.lua */
        if
        :: present && place[0] == READY -> m = 0
        :: present && place[1] == READY -> m = 1
        :: present && place[2] == READY -> m = 2
        fi;
        a = admission[m];
        c = CLAIM_OF(a);
        claims_made[a]++;
        n = number[m];
        under = redis_incarnation;
        place[m] = CLAIMED;
        claim[m] = c
    };
        if
        :: d_step { crashes > 0 -> crashes--; orphaned[c] = true }; goto idle
        :: true
        fi;
        /* place_order() begins: it waits for a transaction that holds one of its keys. */
        atomic {
            !claim_locked[c] && !admission_locked[a];
            if
#ifndef FAULT_NO_INCARNATION
            :: under != incarnation -> goto refused
#endif
            :: claim_outcome[c] != 0 -> goto refused
#ifndef FAULT_NO_ADMISSION_USE
            :: admission_use[a] -> goto spent
#endif
            :: else ->
                claim_locked[c] = true;
                admission_locked[a] = true;
                sharing++
            fi
        };
        if
        :: d_step {
            claim_locked[c] = false;
            admission_locked[a] = false;
            sharing--;
            claim_outcome[c] = COMMITTED;
            admission_use[a] = true;
            spent_number[n] = true;
            outbox[a] = true;
            outbox_rows++;
            /* ONCE: a number, and so an admission, makes one order. */
            assert(!used[n]);
            /* ROOM: an order in progress holds a place, unless Redis has forgotten it. */
            assert(forgotten[c] || (place[m] == CLAIMED && claim[m] == c));
            used[n] = true;
            in_line[m] = false;
            owed[m] = false
        }
        :: d_step {
            rollbacks > 0 -> rollbacks--;
            claim_locked[c] = false;
            admission_locked[a] = false;
            sharing--
        }; goto refused
        :: d_step {
            /* PostgreSQL rolls back what the dead have begun. */
            crashes > 0 -> crashes--;
            claim_locked[c] = false;
            admission_locked[a] = false;
            sharing--;
            orphaned[c] = true
        }; goto idle
        fi;
spent:
        if
        :: d_step { crashes > 0 -> crashes--; orphaned[c] = true }; goto idle
        :: d_step { consume(m, a) }
        fi;
        /* Where Redis has answered, the worker strikes the row with one of its next transactions. */
        if
        :: d_step { present && outbox[a] -> outbox[a] = false; outbox_rows-- }
        :: true
        fi;
        goto idle;
refused:
        if
        :: d_step { crashes > 0 -> crashes--; orphaned[c] = true }
        :: d_step { release(m, a, c) }
        fi;
idle:
        skip;
        d_step { m = 0; a = 0; c = 0; n = 0; under = 0 }
    od
}

#define LEASE_IS_OVER(m) (place[m] == CLAIMED && (orphaned[claim[m]] || overruns > 0))

active proctype Reconcile()
{
    byte m;
    byte a;
    byte c;
    byte i;
    byte said;

end:
    do
    :: atomic {
        /* lua/tokens/claims_overdue.lua */
        if
        :: present && LEASE_IS_OVER(0) -> m = 0
        :: present && LEASE_IS_OVER(1) -> m = 1
        :: present && LEASE_IS_OVER(2) -> m = 2
        fi;
        a = admission[m];
        c = claim[m];
        overruns = (orphaned[c] -> overruns : overruns - 1)
    };
#ifdef FAULT_LEASE_IS_THE_LAST_WORD
        said = RELEASED;
#else
        d_step {
            /* settle_claim(): its insert waits for the running transaction. */
            !claim_locked[c] ->
            claim_outcome[c] = (claim_outcome[c] == 0 -> RELEASED : claim_outcome[c]);
            said = claim_outcome[c]
        };
#endif
        if
        :: d_step { crashes > 0 -> crashes--; said = 0 }
        :: d_step { said == COMMITTED -> consume(m, a) }
        :: d_step { said == RELEASED -> release(m, a, c) }
        fi;
        d_step { m = 0; a = 0; c = 0; said = 0 }
    :: atomic {
        /* The outbox: says once more what the worker may not have got to say. */
        present && outbox_rows > 0;
        do
        :: outbox[a] -> break
        :: else -> a++
        od
    };
        d_step { consume(owner_of[a % NUMBERS], a) };
        if
        :: d_step { crashes > 0 -> crashes-- }
        :: d_step { present -> outbox_rows = outbox_rows - (outbox[a] -> 1 : 0); outbox[a] = false }
        :: !present
        fi;
        d_step { a = 0 }
    :: d_step {
        /* raise_incarnation(): exclusive, so it waits for all that spend an admission. */
#ifdef FAULT_RAISE_DOES_NOT_WAIT
        !present && incarnation == redis_incarnation ->
#else
        !present && incarnation == redis_incarnation && sharing == 0 ->
#endif
        incarnation++
    }
    :: d_step {
        /* lua/queues/spent_load.lua */
        !present && incarnation > redis_incarnation && prepared_for != incarnation ->
        prepared_for = incarnation;
#ifndef FAULT_SPENT_NOT_LOADED
        i = 0;
        do
        :: i < NUMBERS -> seated_next[i] = spent_number[i]; i++
        :: else -> break
        od;
        i = 0
#endif
    }
    :: d_step {
        /* lua/queues/queue_publish.lua: the queue comes back. */
        !present && prepared_for == incarnation && incarnation > redis_incarnation ->
        redis_incarnation = incarnation;
        i = 0;
        do
        :: i < NUMBERS -> seated[i] = seated_next[i]; seated_next[i] = false; i++
        :: else -> break
        od;
        i = 0;
#ifndef FAULT_COUNTER_RESTARTS
        sequence = ENTRIES * (incarnation - 1);
#endif
#ifdef FAULT_BUCKET_IS_FULL
        bucket = BURST;
#endif
        present = true
    }
    od
}

/* Redis loses its memory, the marks of a recovery that was under way included, or only its last second. */
active proctype Loss()
{
    byte i;

end:
    do
    :: d_step {
        losses > 0 && (present || prepared_for != 0) ->
        losses--;
        present = false;
        prepared_for = 0;
        sequence = 0;
        bucket = 0;
        leader = NOBODY;
        i = 0;
        do
        :: i < MEMBERS ->
            forgotten[claim[i]] = true;
            forget_place(i);
            in_line[i] = owed[i];
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < NUMBERS -> seated[i] = false; seated_next[i] = false; i++
        :: else -> break
        od;
        i = 0
    }
    :: d_step {
        setbacks > 0 && present && (place[0] == CLAIMED || place[1] == CLAIMED || place[2] == CLAIMED) ->
        setbacks--;
        do
        :: place[i] == CLAIMED -> break
        :: else -> i++
        od;
        forgotten[claim[i]] = true;
        place[i] = READY;
        claim[i] = 0;
        i = 0
    }
#if SETBACKS > 0
    :: d_step {
        setbacks > 0 && present && last_consumed != 0 && place[owner_of[last_consumed % NUMBERS]] == NONE ->
        setbacks--;
        i = owner_of[last_consumed % NUMBERS];
        place[i] = READY;
        number[i] = last_consumed % NUMBERS;
        admission[i] = last_consumed;
        claim[i] = 0;
        seated[number[i]] = false;
        i = 0
    }
#endif
    od
}

/* LOST: when nobody has anything left to do, everybody has an order or had their time, and nothing is left over. */
active proctype Quiet()
{
    byte m;

    timeout;
    d_step {
        do
        :: m < MEMBERS ->
            assert(!owed[m]);
            assert(place[m] == NONE);
            m++
        :: else -> break
        od;
        assert(present);
        assert(outbox_rows == 0);
        assert(sharing == 0);
        m = 0
    }
}
