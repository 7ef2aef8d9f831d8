"""A round's ledger in the console."""

from decimal import Decimal

import pytest

from annotation.models import Assignment, Payment, Worker
from console.money import money_page
from core.models import Job
from hits.models import Round
from tests.console.conftest import answer_rightly
from tests.factories import make_round


@pytest.fixture
def owing(db) -> Round:
    made = make_round(hits=6)
    answer_rightly(made)
    return made


def test_the_page_shows_accounts_and_workers(member, owing):
    answer = member.get("/rounds/round-1/money/")
    accounts = dict(answer.context["accounts"])
    assert (accounts["planned (open seats)"], accounts["paid (to workers)"]) == (Decimal("3.25"), 0)
    assert Assignment.objects.get().worker.pseudonym in answer.text


def test_the_ledger_is_downloaded_as_csv(member, owing):
    answer = member.get("/rounds/round-1/ledger.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="ledger-round-1.csv"'
    assert b"".join(answer.streaming_content).decode().count("\r\n") == 2


def test_a_researcher_sets_the_ceiling(researcher, owing):
    researcher.post("/rounds/round-1/ceiling/", {"ceiling": "20"})
    owing.refresh_from_db()
    assert owing.ceiling == 20


def test_a_top_up_is_shown_with_its_cost_and_given_once_it_is_confirmed(researcher, owing, commit):
    for _ in range(5):
        answer_rightly(owing)
    page = researcher.get("/rounds/round-1/money/").text
    assert ("a bonus of $0.60" in page, 'name="shown" value="3.60"' in page) == (True, True)
    assert Payment.objects.filter(kind="bonus").count() == 0
    for _ in range(2):
        with commit(execute=True):
            researcher.post("/rounds/round-1/top-up/", {"shown": "3.60"})
    assert Payment.objects.filter(kind="bonus").count() == 6
    assert Job.objects.get().message == "6 assignments are owed $0.60 more each, $3.60 in all."
    assert "already received" in researcher.get("/rounds/round-1/money/").text


def test_what_programs_earned_is_marked_and_their_times_advise_no_top_up(member, owing):
    for _ in range(5):
        answer_rightly(owing)
    Worker.objects.update(simulated=True)
    page = member.get("/rounds/round-1/money/").text
    assert "$3.90 of" in page
    assert "(6 simulated)" in page
    assert page.count('data-state="simulated"') == 6
    assert "Median elapsed time" not in page
    assert "top_up" not in page


def test_the_sums_are_over_all_pages(member, owing, monkeypatch):
    answer_rightly(owing)
    monkeypatch.setattr(money_page, "ROWS", 1)
    by_worker = member.get("/rounds/round-1/money/").context
    assert (len(by_worker["rows"]), by_worker["totals"].rewards, by_worker["totals"].owed) == (1, 2, Decimal("1.30"))
