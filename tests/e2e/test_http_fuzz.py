"""Requests made from the API's document, good ones and strange ones: a short run with a fixed seed. Longer ones: tests/http_fuzz/run."""

import pytest

from http_fuzz.aftermath import aftermath, workers
from http_fuzz.campaign import Campaign

SEED, ATTEMPTS = 20260301, 900
# Needs a browser at the gate, or the provider's page: other tests go there.
ELSEWHERE = {("POST", "/v1/admin/queues/{queue}/returns"), ("POST", "/v1/payments/webhooks/{provider}"), ("GET", "/v1/orders/{id}/payment/approve"),
             ("GET", "/v1/orders/{id}/payment/cancel"), ("GET", "/v1/orders/{id}/payment/fail")}


@pytest.mark.limit(180)
def test_every_answer_is_one_that_the_document_allows(stack):
    before = workers(stack)
    campaign = Campaign(stack.api, SEED)
    findings = campaign.run(count=ATTEMPTS) + [(-1, [sentence], b"", b"") for sentence in aftermath(stack, campaign, before)]
    assert findings == []
    good, rest = campaign.reached()
    # Requests that are refused at the door try nothing behind it.
    assert len(rest - ELSEWHERE) <= len(good) // 10, sorted(rest)
