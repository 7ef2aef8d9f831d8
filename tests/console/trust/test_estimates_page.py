"""Estimates of audits among the charts of a round."""

from tests.evaluation.worlds import AUDIT, SMALL, judge, known_pool, published
from tests.hits.pools import pack


def test_an_audit_shows_its_scores_over_the_looks_and_what_stopping_saves(charted, db):
    audit = published(pack("audit", known_pool(), **AUDIT))
    assert "has no judgments that count" in charted("/charts/round/audit/estimates/").text
    for minutes, hit in enumerate(audit.hits.order_by("number")[: audit.hits.count() - 1]):
        judge(hit, minutes=minutes)
    looks = charted("/charts/round/audit/live/").text
    assert "Closing the round now saves 1 answer set of 1 HIT" in looks
    assert 'aria-label="mAP@R, image → captions; ' in looks
    shown = charted("/charts/round/audit/estimates/").text
    assert "what judging all 14 queries of the pool would say; 7 were judged." in shown
    assert "Rests on 7 queries: judge more queries before you compare." in shown


def test_rounds_that_cannot_be_estimated_say_so(charted, db):
    published(pack("first", known_pool(), design=SMALL, judge="first-hits"))
    assert "the first hits alone" in charted("/charts/round/first/estimates/").text
