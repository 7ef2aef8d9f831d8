"""The page of a round's estimates: an audit at its looks, finished rounds of all pairs, machine judges, and what cannot
be said yet."""

import pytest
from django.urls import reverse

from evaluation.auditing.live_estimates import LiveParameters
from hits.models import Round
from mitl.models import Annotator
from tests.console.conftest import counted
from tests.evaluation.registering import register
from tests.evaluation.worlds import AUDIT, SMALL, judge, judge_all, known_pool, published
from tests.factories import make_round
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_looks(monkeypatch):
    """Fewer looks than the page has, so that tests are quick."""
    monkeypatch.setattr("console.trust.estimate_figures.LOOKS", LiveParameters(looks=2))


@pytest.fixture(scope="module")
def audit(lasting) -> Round:
    return published(pack("audit", known_pool(), **AUDIT))


def page(client, name: str) -> str:
    answer = counted(client, reverse("round_estimates", args=[name]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_audit_that_cannot_say_anything_yet_says_why(member, audit):
    assert "has no judgments that count" in page(member, "audit")
    judge(audit.hits.get(number=1))
    shown = page(member, "audit")
    assert "of 7 that the audit drew" in shown


def test_an_audit_shows_its_looks_and_what_stopping_saves_to_those_who_may_close_it(member, researcher, audit):
    for minutes, hit in enumerate(audit.hits.order_by("number")[: audit.hits.count() - 1]):
        judge(hit, minutes=minutes)
    close = reverse("round_close", args=["audit"])
    for client, may in ((member, False), (researcher, True)):
        shown = page(client, "audit")
        assert "what judging all 14 queries of the pool would say; 4 were judged." in shown
        assert "Rests on 4 queries: judge more queries before you compare." in shown
        assert "all 2 looks together" in shown
        assert "<strong>1 answer set</strong>" in shown
        assert "Table of widths given up" in shown
        assert 'class="panel" role="img"' in shown
        assert (close in shown) == may
    assert reverse("round_estimates", args=["audit"]) in member.get(reverse("round", args=["audit"])).text


def test_models_whose_first_items_were_not_asked_lead_researchers_to_the_page_that_adds_them(
    member, researcher, audit, tmp_path
):
    register(audit.pool, tmp_path)
    judge_all(audit)
    for client, may in ((member, False), (researcher, True)):
        shown = page(client, "audit")
        assert "<td>not asked</td>" in shown
        assert (reverse("round_add", args=["audit"]) in shown) == may


def test_rounds_that_cannot_be_estimated_say_so(member, audit):
    published(pack("first", audit.pool, design=SMALL, judge="first-hits"))
    assert "the first hits alone" in page(member, "first")
    make_round(audit.pool.collection, "bare")
    assert "No direction of the pool" in page(member, "bare")
    assert member.get(reverse("round_estimates", args=["nothing"])).status_code == 404


def test_machine_judges_of_the_pool_are_shown_by_direction_and_said_to_be_no_labels(member, audit):
    judge_all(audit)
    assert "Machine judges" not in page(member, "audit")
    Annotator.objects.filter(name="b").update(kind="vlm")
    judge_all(published(pack("judged", audit.pool, **AUDIT)))
    shown = page(member, "judged")
    assert "<h2>Machine judges</h2>" in shown
    table = shown.split('aria-label="Table of machine judges"')[1].split("</table>")[0]
    assert table.count("<td>b</td>") == 2
    assert "<td>a</td>" not in table
    assert "nan" not in table
