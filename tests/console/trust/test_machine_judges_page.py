"""The page of a round's estimates shows what machine judges of the pool bring, and nothing where there is none."""

import pytest
from django.urls import reverse

from evaluation.auditing.live_estimates import LiveParameters
from mitl.models import Annotator
from tests.console.conftest import counted
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def one_look(monkeypatch):
    monkeypatch.setattr("console.trust.estimate_figures.LOOKS", LiveParameters(looks=1))


def shown(client, *, judges, audit=True):
    pool = known_pool()
    Annotator.objects.filter(name__in=judges).update(kind="vlm")
    design = {"judge": "audit", "audit_share": 0.5} if audit else {}
    judge_all(published(pack("made", pool, design=SMALL, seed=4, **design)))
    return counted(client, reverse("round_estimates", args=["made"])).text


def test_machine_judges_are_shown_by_direction_and_said_to_be_no_labels(member):
    page = shown(member, judges=["b"])
    assert "<h2>Machine judges</h2>" in page
    table = page.split('aria-label="Table of machine judges"')[1].split("</table>")[0]
    assert table.count("<td>b</td>") == 2
    assert "<td>a</td>" not in table
    assert "nan" not in table


def test_an_audit_whose_pool_has_no_machine_judge_says_nothing_of_them(member):
    assert "Machine judges" not in shown(member, judges=[])
