#include "fcgi-app/gate/cf_waiting_room.h"

#include "lib/base/clock.h"

enum { MINUTE_S = 60, MINUTE_MS = 60000, HOUR_MINUTES = 60 };

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static int64_t rounded_up(int64_t amount, int64_t unit)
{
    return amount / unit + (amount % unit > 0 ? 1 : 0);
}

static void add_unit(struct buffer *out, int64_t count, const char *unit)
{
    buffer_format(out, "%lld %s%s", (long long)count, unit, count == 1 ? "" : "s");
}

/* English text as a JSON string: "5 minutes", "1 hour 10 minutes". */
static void add_minutes_text(struct buffer *out, bool known, int64_t minutes)
{
    int64_t hours = minutes / HOUR_MINUTES;
    int64_t rest = minutes % HOUR_MINUTES;

    if (!known) {
        buffer_add(out, STR("\"unavailable\""));
        return;
    }
    buffer_add_char(out, '"');
    if (hours > 0) {
        add_unit(out, hours, "hour");
    }
    if (hours > 0 && rest > 0) {
        buffer_add_char(out, ' ');
    }
    if (hours == 0 || rest > 0) {
        add_unit(out, rest, "minute");
    }
    buffer_add_char(out, '"');
}

static void add_wait(struct buffer *out, const struct cf_waiting_room *room)
{
    bool known = room->wait_seconds >= 0;
    int64_t minutes = known ? rounded_up(room->wait_seconds, MINUTE_S) : 0;
    int64_t percentile = room->mode == CF_RANDOM ? minutes : 0;

    buffer_format(out, ",\"waitTimeKnown\":%s,\"waitTime\":%lld", truth(known), (long long)minutes);
    buffer_format(out,
                  ",\"waitTime25Percentile\":%lld,\"waitTime50Percentile\":%lld,"
                  "\"waitTime75Percentile\":%lld,\"waitTimeFormatted\":",
                  (long long)percentile, (long long)percentile, (long long)percentile);
    add_minutes_text(out, known, minutes);
}

static bool rejects(const struct cf_waiting_room *room)
{
    return str_equal(room->queue_state, STR("CLOSED")) ||
           (!room->in_line && (str_equal(room->queue_state, STR("SOLD_OUT")) ||
                               str_equal(room->queue_state, STR("DRAINING"))));
}

static void add_method(struct buffer *out, const struct cf_waiting_room *room)
{
    char now[RFC3339_TEXT + 1];
    bool reject = rejects(room);
    bool random = !reject && room->mode == CF_RANDOM;
    bool fifo = !reject && !random;
    const char *method = random ? "random" : "fifo";

    rfc3339_format(room->now_ms, now);
    buffer_format(out, ",\"lastUpdated\":\"%s\",\"refreshIntervalSeconds\":%lld", now,
                  (long long)(reject ? 0 : room->retry_seconds));
    buffer_format(out,
                  ",\"queueingMethod\":\"%s\",\"isFIFOQueue\":%s,\"isRandomQueue\":%s,"
                  "\"isPassthroughQueue\":false,\"isRejectQueue\":%s",
                  reject ? "reject" : method, truth(fifo), truth(random), truth(reject));
}

static void add_event(struct buffer *out, const struct cf_waiting_room *room)
{
    bool closed = str_equal(room->queue_state, STR("CLOSED")) ||
                  (room->closes_at_ms >= 0 && room->now_ms >= room->closes_at_ms);
    bool active = !closed && (room->opens_at_ms >= 0 || room->closes_at_ms >= 0);
    bool before = active && room->opens_at_ms > room->now_ms;
    bool ends = active && room->closes_at_ms >= 0;
    int64_t to_start = before ? rounded_up(room->opens_at_ms - room->now_ms, MINUTE_MS) : 0;
    int64_t to_end = ends ? rounded_up(room->closes_at_ms - room->now_ms, MINUTE_MS) : 0;

    buffer_format(out,
                  ",\"isEventActive\":%s,\"isEventPrequeueing\":%s,\"timeUntilEventStart\":%lld",
                  truth(active), truth(before), (long long)to_start);
    buffer_add(out, STR(",\"timeUntilEventStartFormatted\":"));
    add_minutes_text(out, before, to_start);
    buffer_format(out,
                  ",\"timeUntilEventEnd\":%lld,\"timeUntilEventEndFormatted\":", (long long)to_end);
    add_minutes_text(out, ends, to_end);
    buffer_format(out, ",\"shuffleAtEventStart\":%s",
                  truth(active && room->opens_at_ms >= 0 && room->mode == CF_RANDOM));
}

void cf_waiting_room_add(struct buffer *out, const struct cf_waiting_room *room)
{
    buffer_add(out, STR("{\"inWaitingRoom\":true"));
    add_wait(out, room);
    buffer_format(out, ",\"queueIsFull\":%s,\"queueAll\":%s", truth(room->queue_full),
                  truth(room->queue_all));
    add_method(out, room);
    add_event(out, room);
    buffer_add(out, STR(",\"turnstile\":\"\",\"infiniteQueue\":false}"));
}
