"""The pages of a round that is published: its progress, live; its workers, votes and HITs."""

from decimal import Decimal
from functools import partial

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Worker
from annotation.people.workers import pause_worker
from annotation.review.decisions import decide
from annotation.work.disputes import top_up
from annotation.work.leases import lease_seat
from console import kept_figures
from console.home.needs import needs_of_all_rounds
from console.pagination import page_of
from console.rounds import progress_pages
from core.models import Event, Job
from core.progress import silent
from crowd.posting.publication import close_round
from dataset.releases.release_parameters import METHODS_IN_WORDS
from dataset.verdicts import aggregate_round
from evaluation.analyses.agreement_analysis import AgreementParameters, analyse
from tests.annotation.disagreeing import make_topped_up, vote
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_assignment, make_round, make_worker


def test_a_round_shows_how_it_goes(researcher, db):
    made = make_round(hits=2)
    answer_rightly(made)
    page = researcher.get("/rounds/round-1/")
    quality = page.context["quality"]
    assert page.context["standing"].filled == 1
    assert (quality.timing.active, quality.dollars_an_hour) == (300, Decimal("7.8"))
    assert quality.levels == {1: 2, 2: 0, 3: 0, 4: 0}
    assert quality.alpha is None  # of one vote a pair
    workers = researcher.get("/rounds/round-1/workers/")
    (line,) = workers.context["rows"]
    assert line.controls.weight == 0.5  # 2 of 2: 2 · 3/4 − 1
    assert '<td class="n">50%</td>' in workers.text


def test_flagged_work_asks_for_a_person_and_enters_neither_the_levels_nor_the_time(reviewer, db):
    assignment = answer_wrongly(make_round())
    page = reviewer.get("/rounds/round-1/")
    assert "1 flagged assignment" in page.text
    quality = page.context["quality"]
    assert (quality.controls.answered, quality.controls.right, quality.controls.share) == (2, 1, 0.5)
    assert (quality.timing, sum(quality.levels.values()), page.context["levels"]) == (None, 0, [])
    (look,) = page.context["looks"]
    assert (look.line.pseudonym, look.line.seconds) == (assignment.worker.pseudonym, None)
    assert (look.line.submitted, look.line.accepted, look.line.flagged) == (1, 0, 1)


def test_workers_are_sorted_as_the_address_says(researcher, db):
    made = make_round(hits=2)
    workers = {"wrong": answer_wrongly(made).worker, "right": answer_rightly(made).worker}
    for sort, first in (("flagged", "wrong"), ("accepted", "right"), ("quality", "wrong")):
        page = researcher.get("/rounds/round-1/workers/", {"sort": sort})
        assert page.context["rows"][0].pseudonym == workers[first].pseudonym, sort
        assert page.text.count("aria-sort") == 1
    assert researcher.get("/rounds/round-1/workers/", {"sort": "nonsense"}).context["sort"] == "submitted"


def test_a_job_counts_the_votes_by_the_chosen_method(researcher, db, django_capture_on_commit_callbacks):
    made = make_round()
    answer_rightly(made)
    page = researcher.get("/rounds/round-1/aggregate/")
    for name, words in METHODS_IN_WORDS.items():
        assert f'value="{name}"' in page.text
        assert all(word in page.text for word in words)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):  # a button pressed twice
            researcher.post("/rounds/round-1/aggregate/", {"method": "dawid-skene", "ties": "lower"})
    job = Job.objects.get()
    assert (job.state, job.message[:42]) == ("done", "2 votes counted: 2 verdicts by dawid-skene")
    counted = made.aggregations.get()
    assert (counted.method, counted.ties, counted.verdicts.count()) == ("dawid-skene", "lower", 2)
    assert "<strong>dawid-skene</strong>" in page.text
    assert "Counted so far" in researcher.get("/rounds/round-1/aggregate/").text


def test_votes_are_counted_by_no_unknown_method(researcher, db):
    make_round()
    page = researcher.post("/rounds/round-1/aggregate/", {"method": "dice", "ties": "median"})
    assert (page.status_code, Job.objects.count()) == (422, 0)
    assert "dice is not one of the available choices" in page.text


def test_a_round_that_a_version_counted_leads_to_its_verdicts(researcher, site):
    site.version.rounds.get().aggregations.all().delete()
    there = '<a href="/versions/v1/pairs/">'
    assert (
        f"none counted yet; a release counts the votes itself: {there}pairs of v1</a></dd>"
        in researcher.get("/rounds/done/").text
    )
    assert (
        f"A release counts the votes itself: see the pairs of {there}v1</a>."
        in researcher.get("/rounds/done/pairs/").text
    )
    assert "No votes have been counted" not in researcher.get("/versions/v1/pairs/").text


def test_a_round_shows_how_its_verdicts_were_made(researcher, db):
    made = make_round()
    answer_rightly(made)
    assert "<dt>Verdicts</dt><dd>none counted yet</dd>" in researcher.get("/rounds/round-1/").content.decode()
    aggregate_round(made, method="ordinal", ties="lower")
    assert "<dt>Verdicts</dt><dd>2 by ordinal, ties: lower</dd>" in researcher.get("/rounds/round-1/").content.decode()


def test_counting_no_votes_is_told(researcher, db, django_capture_on_commit_callbacks):
    make_round()
    with django_capture_on_commit_callbacks(execute=True):
        researcher.post("/rounds/round-1/aggregate/", {"method": "majority", "ties": "median"})
    job = Job.objects.get()
    assert (job.state, "has no judgments that count" in job.message) == ("failed", True)


def test_hits_are_narrowed_by_the_state_of_their_seats(researcher, db):
    made = make_round(hits=3)
    make_assignment(made.hits.get(number=2).seats.get())
    rows = researcher.get("/rounds/round-1/hits/?state=taken").context["rows"]
    assert [row.number for row in rows] == [2]


def test_a_hits_page_shows_staff_the_roles_of_its_pairs(researcher, db):
    make_round()
    text = researcher.get("/rounds/round-1/hits/1/").content.decode()
    assert "positive control" in text
    assert "negative control" in text
    assert text.count("candidate</span>") == 2


def test_the_cost_in_all_is_never_below_the_cost_so_far(researcher, person):
    made = make_round(hits=2, reward="0.65")
    excluded = answer_wrongly(made)
    decide(excluded, votes_count=False, paid=True, reason="careless", by=person)
    answer_rightly(made), answer_rightly(made)
    assert researcher.get("/rounds/round-1/").text.count("$1.95") == 2  # so far, and owed
    close_round(made, actor="robin")
    assert "<dt>Cost in all</dt><dd>$1.95" in researcher.get("/rounds/round-1/").text


def test_a_complete_round_that_is_still_open_needs_somebody_to_close_it(researcher, db):
    made = make_round()
    assert needs_of_all_rounds(User(is_superuser=True)) == []
    answer_rightly(made)
    assert [need.text for need in needs_of_all_rounds(User(is_superuser=True))] == [
        "round-1 is complete and still open. Close it, or judge its doubtful pairs again"
    ]
    assert 'href="/rounds/round-1/close/">Close it' in researcher.get("/rounds/round-1/").content.decode()
    close_round(made, actor="robin")
    assert needs_of_all_rounds(User(is_superuser=True)) == []


def test_the_live_part_tells_what_the_page_tells_and_is_never_kept_in_a_cache(releaser, db):
    made = make_round(hits=2)
    assert "0 of 2" in releaser.get("/rounds/round-1/").text
    answer_rightly(made), answer_wrongly(made)
    answer = releaser.get("/rounds/round-1/live/")
    told = answer.json()
    assert "no-store" in answer["Cache-Control"]
    assert told["live"] is True
    assert "<strong>1 of 2</strong>" in told["html"]
    assert "1 flagged assignment in round-1" in told["html"]
    assert told["html"] in releaser.get("/rounds/round-1/").text


def test_who_joined_and_has_not_worked_is_counted_among_the_workers(researcher, db):
    made = make_round()
    made.participants.create(worker=make_worker())
    told = "workers</a>, of 1 who joined</dt><dd>0</dd>"
    assert told in researcher.get("/rounds/round-1/live/").json()["html"]


def test_only_workers_who_need_a_look_are_on_the_page_and_all_behind_a_link(researcher, db):
    made = make_round(hits=2)
    assert "No answers yet" in researcher.get("/rounds/round-1/").text
    right, wrong = answer_rightly(made).worker.pseudonym, answer_wrongly(made).worker.pseudonym
    page = researcher.get("/rounds/round-1/").text
    assert (right in page, wrong in page, "1 HIT flagged" in page) == (False, True, True)
    assert 'href="/rounds/round-1/workers/">All 2 workers' in page
    assert {line.pseudonym for line in researcher.get("/rounds/round-1/workers/").context["rows"]} == {right, wrong}


def test_a_look_at_a_worker_says_what_signals_found_and_that_they_are_paused(researcher, db):
    made = make_round(hits=2)
    right, wrong = answer_rightly(made), answer_wrongly(made)
    evidence = [{"signal": "pace", "sentence": "0.4 s a pair; the round usually takes 9 s."}]
    Assignment.objects.filter(pk=wrong.pk).update(signals=evidence)
    pause_worker(right.worker, round=made, reason="to be looked at", by="robin")
    looks = {look.line.pseudonym: look.reasons for look in researcher.get("/rounds/round-1/").context["looks"]}
    assert looks[wrong.worker.pseudonym] == ["1 HIT flagged", "0.4 s a pair; the round usually takes 9 s."]
    assert looks[right.worker.pseudonym] == ["paused in this round"]


def test_the_sums_of_workers_are_over_all_their_pages(researcher, db, monkeypatch):
    made = make_round(hits=3)
    answer_rightly(made), answer_wrongly(made), answer_rightly(made)
    monkeypatch.setattr(progress_pages, "page_of", partial(page_of, size=1))
    page = researcher.get("/rounds/round-1/workers/")
    totals = page.context["totals"]
    assert len(page.context["rows"]) == 1
    assert (totals.submitted, totals.accepted, totals.flagged, totals.seconds) == (3, 2, 1, 300)
    assert (totals.controls.answered, totals.controls.right) == (6, 5)


def test_the_newest_answers_are_one_to_a_candidate_of_each_submission(researcher, db):
    made = make_round(hits=10)
    answered = [answer_rightly(made) for _ in range(10)]
    newest = researcher.get("/rounds/round-1/").context["newest"]
    assert [one.assignment_id for one in newest] == [one.pk for one in reversed(answered)][:8]
    assert all(one.item.control_id is None for one in newest)


def test_the_bar_of_seats_tells_done_flagged_at_work_and_open_apart(researcher, db):
    made = make_round(hits=6)
    answer_rightly(made), answer_rightly(made), answer_wrongly(made)
    make_assignment(made.seats.filter(state="open").first())
    seats = {part.kind: part.count for part in researcher.get("/rounds/round-1/").context["seats"]}
    assert seats == {"done": 2, "flagged": 1, "sent": 0, "leased": 1, "open": 2}


def test_figures_of_many_answer_sets_are_left_to_the_live_part_but_where_they_are_wanted(researcher, db, monkeypatch):
    monkeypatch.setattr(kept_figures, "MANY", 1)
    made = make_round()
    answer_rightly(made)
    close_round(made, actor="robin")
    page = researcher.get("/rounds/round-1/")
    assert "quality" not in page.context
    assert 'data-live="/rounds/round-1/live/" data-every="5" aria-busy="true"' in page.text
    assert "controls right (2 of 2)" in researcher.get("/rounds/round-1/live/").json()["html"]
    assert "controls right (2 of 2)" in researcher.get("/rounds/round-1/?count").text


def test_the_live_part_of_a_closed_round_is_not_asked_for_again(researcher, db):
    made = make_round()
    assert 'data-live="/rounds/round-1/live/"' in researcher.get("/rounds/round-1/").text
    close_round(made, actor="robin")
    assert researcher.get("/rounds/round-1/live/").json()["live"] is False
    assert "data-live" not in researcher.get("/rounds/round-1/").text


@pytest.mark.parametrize(("who", "told"), [("researcher", True), ("reviewer", False)])
def test_only_researchers_are_offered_to_close_a_complete_round(request, db, who, told):
    answer_rightly(make_round())
    html = request.getfixturevalue(who).get("/rounds/round-1/live/").json()["html"]
    assert ("the round is still open" in html) is told
    assert ("/rounds/round-1/close/" in html) is told


def test_the_cost_so_far_and_to_come_are_told_apart(researcher, db):
    made = make_round(hits=3, reward="0.65")
    answer_rightly(made)
    text = researcher.get("/rounds/round-1/live/").json()["html"]
    assert "<dt>Spent</dt><dd>$0.65</dd>" in text
    assert "$1.30 to come" in text


def test_the_agreement_of_a_round_is_that_of_the_analysis(researcher):
    made = make_topped_up()
    vote(made.hits.get(), 1, 4), vote(made.hits.get(), 2, 4)
    found = analyse(AgreementParameters(round=("round-1",), others=("workers",), samples=10), progress=silent).rows
    (alpha,) = [row["value"] for row in found if row["measure"] == "alpha, ordinal"]
    assert researcher.get("/rounds/round-1/").context["quality"].alpha == pytest.approx(alpha)


def test_a_round_says_how_to_rehearse(researcher, db):
    make_round()
    assert "python manage.py simulate round-1 --workers 50" in researcher.get("/rounds/round-1/").text


def test_a_round_of_the_browser_pool_is_paused_and_resumed_by_a_button(researcher, member, client, db):
    made = make_round(hits=2)
    answer_rightly(made)
    assert "Pause<" not in member.get("/rounds/round-1/").text
    assert "who have one go on" in researcher.post("/rounds/round-1/pause/", {"paused": "yes"}, follow=True).text
    page = researcher.get("/rounds/round-1/").text
    assert ('data-state="paused"' in page, 'value="no">Resume<' in page) == (True, True)
    assert "This round is paused" in client.get(f"/judge/join/{made.join_key}/").text
    assert lease_seat(made, worker=make_worker()) is None
    researcher.post("/rounds/round-1/pause/", {"paused": "no"})
    assert "This round is paused" not in client.get(f"/judge/join/{made.join_key}/").text
    assert lease_seat(made, worker=make_worker()) is not None


def test_a_round_its_assignments_and_workers_say_that_their_answers_are_simulated(researcher, site):
    work = site.flagged
    pages = ["/rounds/done/", f"/review/{work.pk}/", f"/workers/{work.worker.pseudonym}/", "/review/"]
    assert not any("simulated" in researcher.get(page).content.decode() for page in pages)
    Worker.objects.update(simulated=True)
    assert all("simulated" in researcher.get(page).content.decode() for page in pages)
    assert "runs only with <code>--among-people</code>" in researcher.get("/rounds/done/").content.decode()


def test_a_round_tells_how_many_pairs_are_unfinished_and_what_was_added(researcher):
    made = make_topped_up()
    assert "2 pairs unfinished" in researcher.get("/rounds/round-1/").content.decode()
    for level in (1, 4):
        vote(made.hits.get(), level)
    top_up(made, actor="robin")
    text = researcher.get("/rounds/round-1/").content.decode()
    assert "at most 1 on a pair on which workers disagree; 1 HIT added so far" in text
    assert "2 pairs unfinished" in text


def test_idle_leases_are_ended_once_that_is_confirmed(researcher, db):
    made = make_round(hits=2)
    lease = lease_seat(made, worker=make_worker())
    assert "end idle leases" in researcher.get("/rounds/round-1/").text
    assert "1 HIT is held by workers who never submitted" in researcher.get("/rounds/round-1/idle/").text
    lease.refresh_from_db()
    assert lease.state == "leased"
    assert "1 lease ended" in researcher.post("/rounds/round-1/idle/", follow=True).text
    lease.refresh_from_db()
    assert lease.state == "expired"
    assert Event.objects.get(verb="ended idle leases").actor == "researcher"
