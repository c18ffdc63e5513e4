# How `make fuzz` builds the fuzzers, each as fuzz/NAME in the build tree. Everything here is compiled by clang with
# libFuzzer's coverage and the sanitizers, apart from the objects of the build itself; of the archive only what a fuzzer
# calls is linked.
#
# Given by tests/fuzz/Makefile.inc: SOURCE (the source tree), CPPFLAGS, LIBS.

CLANG = clang
# At -O1 the sum of compiling and running a second each is the least.
FUZZ_CFLAGS = -std=c11 -O1 -gline-tables-only -fno-omit-frame-pointer -Wall -Wextra \
	-fno-sanitize-recover=all

fuzzers = \
	altcha \
	bodies \
	cookies \
	csv \
	encoding \
	fcgi_records \
	gate_bypass \
	gate_headers \
	gate_pass \
	identifier \
	ip_network \
	json_body \
	jwk_set \
	key_files \
	member_jwt \
	nginx_config \
	numbers \
	order_body \
	origin_datagram \
	payment_answers \
	payment_webhook \
	percent \
	queue_settings \
	queue_ticket \
	redis_replies \
	request \
	settings_file \
	siteverify \
	visitor

fuzzed = \
	lib/base/arena.c lib/base/buffer.c lib/base/clock.c lib/base/digest.c lib/base/encoding.c \
	lib/base/identifier.c lib/base/log.c lib/base/random.c lib/base/read_file.c lib/base/secret.c lib/base/shared_file.c lib/base/str.c \
	lib/settings/conninfo.c lib/settings/endpoint.c lib/settings/settings.c lib/settings/settings_print.c \
	lib/settings/settings_row.c lib/settings/text_file.c \
	lib/metrics/metrics.c lib/metrics/metrics_file.c lib/http_client/http_client.c \
	lib/store/redis.c lib/store/redis_access.c lib/store/redis_command.c lib/store/redis_metrics.c lib/store/redis_node.c lib/store/redis_primary.c \
	lib/store/redis_reply.c lib/store/redis_sentinel.c lib/store/redis_servers.c lib/store/redis_tenure.c \
	lib/store/scripts.c \
	lib/identity/gate_pass.c lib/identity/jwk_set.c lib/identity/jwt.c lib/identity/key_set.c \
	lib/identity/mac_key.c lib/identity/member_jwt.c lib/identity/public_key.c \
	lib/identity/queue_ticket.c lib/identity/text_secret.c lib/identity/visitor.c \
	lib/identity/watched_file.c \
	lib/captcha/altcha.c lib/captcha/altcha_payload.c lib/captcha/siteverify.c \
	lib/admission/autopilot/autopilot_setting.c lib/admission/line/codes.c lib/admission/gate/gate.c \
	lib/admission/gate/gate_bypass.c lib/admission/gate/ip_network.c lib/admission/members/member.c lib/admission/line/line.c lib/admission/line/line_facts.c lib/admission/line/line_query.c \
	lib/admission/line/line_state_json.c lib/admission/lottery/lottery.c lib/admission/lottery/lottery_state.c lib/admission/autopilot/order_load.c lib/admission/outcome.c \
	lib/admission/queues/queue_publication.c lib/admission/queues/queue_result.c lib/admission/queues/queue_setting_value.c \
	lib/admission/queues/queue_settings.c lib/admission/queues/queue_stats.c lib/admission/seats/seats_record.c \
	lib/payments/kakaopay.c lib/payments/payment_json.c lib/payments/payment_verdict.c \
	lib/payments/toss.c lib/payments/toss_webhook.c \
	fcgi-app/gate/page/accept_language.c fcgi-app/gate/client_kind.c fcgi-app/gate/page_address.c \
	fcgi-app/http/etag.c fcgi-app/http/json_grammar.c fcgi-app/http/percent.c \
	fcgi-app/http/problem.c fcgi-app/http/request.c fcgi-app/http/request_json.c \
	fcgi-app/http/response.c fcgi-app/http/weight.c \
	fcgi-app/operator/codes/add_codes.c fcgi-app/operator/coupons/add_coupon_codes.c \
	fcgi-app/operator/body_reader.c fcgi-app/operator/concerts/put_concert.c \
	fcgi-app/operator/coupons/put_coupon_event.c fcgi-app/operator/products/put_product.c \
	fcgi-app/operator/concerts/put_show.c fcgi-app/operator/concerts/show_plan_body.c \
	fcgi-app/order/body_parts.c fcgi-app/order/coupons/coupon_body.c fcgi-app/order/coupons/coupon_refusal.c \
	fcgi-app/order/orders/order_body.c fcgi-app/order/coupons/post_coupon.c \
	fcgi-app/pool/fcgi_records.c \
	board/origin_datagram.c \
	sluicectl/commands/csv.c sluicectl/doctor/nginx_config.c \
	tests/fuzz/fuzz.c tests/fuzz/router_alone.c

out = fuzz
objects = $(fuzzed:%.c=$(out)/objects/%.o)
programs = $(fuzzers:%=$(out)/%)

all: $(programs)

$(out)/objects/%.o: $(SOURCE)/%.c config.h
	@mkdir -p $(@D)
	@$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(out)/fuzzed.a: $(objects)
	@rm -f $@
	@ar rcs $@ $(objects)

$(programs): $(out)/%: $(out)/objects/tests/fuzz/%.o $(out)/fuzzed.a
	@$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -Wl,--as-needed -o $@ $^ $(LIBS)

$(out)/bodies: $(out)/objects/tests/fuzz/nowhere.o

.PHONY: all
-include $(objects:.o=.d) $(fuzzers:%=$(out)/objects/tests/fuzz/%.d)
