"""The pages of a round that is published: its progress, live; its workers, votes and HITs."""

import re
from decimal import Decimal
from functools import partial

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Worker
from annotation.people.workers import pause_worker
from annotation.review.decisions import decide
from annotation.work.disputes import top_up
from annotation.work.leases import lease_seat
from console.home.needs import needs_of_all_rounds
from console.pagination import page_of
from console.rounds import overview, people_page
from core.models import Event, Job
from core.progress import silent
from crowd.posting.publication import close_round
from dataset.judged.verdict_worth import round_sentences
from dataset.models import Aggregation
from dataset.verdicts import aggregate_round
from evaluation.analyses.agreement_analysis import AgreementParameters, analyse
from hits.models import Round
from tests.annotation.controlling import make_topped_up, vote
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.dataset.judged.figures import FIGURES, REPEATED, SILENT
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
    workers = researcher.get("/rounds/round-1/people/")
    (line,) = workers.context["rows"]
    assert line.controls.weight == 0.5  # 2 of 2: 2 · 3/4 − 1
    assert '<td class="n">50%</td>' in workers.text


def test_flagged_work_asks_for_a_person_and_enters_neither_the_levels_nor_the_time(reviewer, db):
    assignment = answer_wrongly(make_round())
    context = reviewer.get("/rounds/round-1/").context
    assert [need.text for need in context["needs"]] == ["1 flagged assignment in round-1"]
    quality = context["quality"]
    assert (quality.controls.answered, quality.controls.right, quality.controls.share) == (2, 1, 0.5)
    assert (quality.timing, sum(quality.levels.values()), context["levels"]) == (None, 0, None)
    (look,) = context["looks"]
    assert (look.line.pseudonym, look.line.seconds) == (assignment.worker.pseudonym, None)
    assert (look.line.submitted, look.line.accepted, look.line.flagged) == (1, 0, 1)


def test_workers_are_sorted_as_the_address_says(researcher, db):
    made = make_round(hits=2)
    workers = {"wrong": answer_wrongly(made).worker, "right": answer_rightly(made).worker}
    for sort, first in (("flagged", "wrong"), ("accepted", "right"), ("quality", "wrong")):
        page = researcher.get("/rounds/round-1/people/", {"sort": sort})
        assert page.context["rows"][0].pseudonym == workers[first].pseudonym, sort
        assert page.text.count("aria-sort") == 1
    assert researcher.get("/rounds/round-1/people/", {"sort": "nonsense"}).context["sort"] == "flagged"


def test_a_job_counts_the_votes_by_the_chosen_method(researcher, db, commit):
    made = make_round()
    answer_rightly(made)
    with commit(execute=True):
        for _ in range(2):  # a button pressed twice
            researcher.post("/rounds/round-1/aggregate/", {"method": "dawid-skene", "ties": "lower"})
    assert Job.objects.get().state == "done"
    counted = made.aggregations.get()
    assert (counted.method, counted.ties, counted.verdicts.count()) == ("dawid-skene", "lower", 2)
    page = researcher.get("/rounds/round-1/")
    assert (page.context["aggregation"], page.context["verdict_count"]) == (counted, 2)


def test_a_round_that_a_version_counted_leads_to_its_verdicts(researcher, site):
    site.version.rounds.get().aggregations.all().delete()
    for page in ("/rounds/done/", "/rounds/done/pairs/"):
        assert 'href="/versions/v1/' in researcher.get(page).text


def test_hits_are_narrowed_by_the_state_of_their_seats(researcher, db):
    made = make_round(hits=3)
    make_assignment(made.hits.get(number=2).seats.get())
    rows = researcher.get("/rounds/round-1/hits/?state=taken").context["rows"]
    assert [row.number for row in rows] == [2]


def test_the_cost_in_all_is_never_below_the_cost_so_far(researcher, person):
    made = make_round(hits=2, reward="0.65")
    decide(answer_wrongly(made), votes_count=False, paid=True, reason="careless", by=person)
    for _ in range(2):
        answer_rightly(made)
    standing = researcher.get("/rounds/round-1/").context["standing"]
    assert (standing.cost, standing.owed, standing.cost_to_come) == (Decimal("1.95"), Decimal("1.95"), 0)
    close_round(made, actor="robin")


@pytest.mark.parametrize(("role", "may_close"), [("researcher", True), ("reviewer", False)])
def test_closing_a_complete_round_is_the_next_step_of_researchers(request, db, role, may_close):
    client = request.getfixturevalue(role)
    made = make_round()
    answer_rightly(made)
    step = client.get("/rounds/round-1/").context["next"]
    assert (step is not None and step.url == "/rounds/round-1/close/") is may_close
    assert [need.url for need in needs_of_all_rounds(User(is_superuser=True))] == ["/rounds/round-1/"]
    close_round(made, actor="robin")
    assert needs_of_all_rounds(User(is_superuser=True)) == []


def test_an_open_round_without_answers_shows_its_join_link_first(researcher, db):
    make_round()
    page = researcher.get("/rounds/round-1/")
    link = page.context["link"]
    assert page.context["next"].url == link in page.context["mail"]["body"]
    assert page.text.index("Share the join link") < page.text.index('id="progress"')


def test_the_next_step_of_a_closed_round_is_its_release_and_then_the_version(releaser, researcher, site):
    closed = Round.objects.get(name="done")
    closed.versions.clear()
    close_round(closed, actor="robin")
    assert releaser.get("/rounds/done/").context["next"].url.startswith("/release/?rounds=done&")
    assert researcher.get("/rounds/done/").context["next"] is None
    closed.versions.add(site.version)
    assert researcher.get("/rounds/done/").context["next"].url == "/versions/v1/"


def test_the_live_part_is_that_of_the_page_and_is_never_cached(releaser, db):
    made = make_round(hits=2)
    answer_rightly(made)
    answer_wrongly(made)
    answer = releaser.get("/rounds/round-1/live/")
    live = answer.json()
    assert ("no-store" in answer["Cache-Control"], live["live"]) == (True, True)
    page = releaser.get("/rounds/round-1/")
    assert ("data-live" in page.text, live["html"] in page.text) == (True, True)
    close_round(made, actor="robin")
    assert releaser.get("/rounds/round-1/live/").json()["live"] is False
    assert "data-live" not in releaser.get("/rounds/round-1/").text


def test_workers_who_need_a_look_are_on_the_page_with_the_reasons(researcher, db):
    made = make_round(hits=3)
    answer_rightly(made)
    right = answer_rightly(made)
    wrong = answer_wrongly(made)
    evidence = [{"signal": "pace", "sentence": "0.4 s a pair; the round usually takes 9 s."}]
    Assignment.objects.filter(pk=wrong.pk).update(signals=evidence)
    pause_worker(right.worker, round=made, reason="to be looked at", by="robin")
    looks = {look.line.pseudonym: look.reasons for look in researcher.get("/rounds/round-1/").context["looks"]}
    assert looks == {
        wrong.worker.pseudonym: ["1 HIT flagged", evidence[0]["sentence"]],
        right.worker.pseudonym: ["paused in this round"],
    }
    assert len(researcher.get("/rounds/round-1/people/").context["rows"]) == 3


def test_the_sums_of_workers_are_over_all_their_pages(researcher, db, monkeypatch):
    made = make_round(hits=3)
    answer_rightly(made), answer_wrongly(made), answer_rightly(made)
    monkeypatch.setattr(people_page, "page_of", partial(page_of, size=1))
    page = researcher.get("/rounds/round-1/people/")
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


def test_the_bar_of_seats_has_parts_for_done_flagged_leased_and_open_seats(researcher, db):
    made = make_round(hits=6)
    for answered in (answer_rightly, answer_rightly, answer_wrongly):
        answered(made)
    make_assignment(made.seats.filter(state="open").first())
    made.participants.create(worker=make_worker())
    context = researcher.get("/rounds/round-1/").context
    assert [(key.label, key.figure) for key in context["seats"].key] == [
        ("done", "2"), ("flagged for a review", "1"), ("at work", "1"), ("open", "2"),
    ]  # fmt: skip
    assert (context["standing"].workers, context["n_joined"]) == (3, 1)


def test_figures_of_many_answer_sets_are_left_to_the_live_part_unless_they_are_asked_for(researcher, db, monkeypatch):
    monkeypatch.setattr(overview, "MANY", 1)
    made = make_round()
    answer_rightly(made)
    close_round(made, actor="robin")
    page = researcher.get("/rounds/round-1/")
    assert "quality" not in page.context
    assert 'aria-busy="true"' in page.text
    assert "(2 of 2)" in researcher.get("/rounds/round-1/live/").json()["html"]
    assert researcher.get("/rounds/round-1/?count").context["quality"].controls.right == 2


def test_the_agreement_of_a_round_is_that_of_the_analysis(researcher):
    made = make_topped_up()
    vote(made.hits.get(), 1, 4), vote(made.hits.get(), 2, 4)
    found = analyse(AgreementParameters(round=("round-1",), others=("workers",), samples=10), progress=silent).rows
    (alpha,) = [row["value"] for row in found if row["measure"] == "alpha, ordinal"]
    assert researcher.get("/rounds/round-1/").context["quality"].alpha == pytest.approx(alpha)


def test_a_round_of_the_browser_pool_is_paused_and_resumed(researcher, member, db):
    made = make_round(hits=2)
    assert "/rounds/round-1/pause/" not in member.get("/rounds/round-1/").text
    for act, other in (("pause", "resume"), ("resume", "pause")):
        page = researcher.post(f"/rounds/round-1/{act}/", follow=True)
        assert f'href="/rounds/round-1/{other}/"' in page.text
        assert (lease_seat(made, worker=make_worker()) is None) is (act == "pause")


def test_a_round_its_assignments_and_workers_are_marked_as_simulated(researcher, site):
    work = site.flagged
    pages = ["/rounds/done/", f"/review/{work.pk}/", f"/workers/{work.worker.pseudonym}/", "/inbox/"]
    assert not any("simulated" in researcher.get(page).text for page in pages)
    Worker.objects.update(simulated=True)
    assert all("simulated" in researcher.get(page).text for page in pages)


def test_a_round_counts_unfinished_pairs(researcher):
    made = make_topped_up()
    for level in (1, 4):
        vote(made.hits.get(), level)
    top_up(made, actor="robin")
    assert researcher.get("/rounds/round-1/").context["unfinished"] == 2


def test_idle_leases_are_ended_once_that_is_confirmed(researcher, db):
    lease = lease_seat(make_round(hits=2), worker=make_worker())
    assert "/rounds/round-1/idle/" in researcher.get("/rounds/round-1/").text
    assert "1 HIT is held" in researcher.get("/rounds/round-1/idle/").text
    lease.refresh_from_db()
    assert lease.state == "leased"
    researcher.post("/rounds/round-1/idle/")
    lease.refresh_from_db()
    assert lease.state == "expired"
    assert Event.objects.get(verb="ended idle leases").actor == "researcher"


@pytest.fixture
def counted(db):
    """An open round of lone votes that are counted."""
    made = make_round(candidates=4)
    answer_rightly(made)
    aggregate_round(made)
    return made


def said(client, figures) -> str:
    Aggregation.objects.update(certainty=figures)
    return (
        client.get("/rounds/round-1/results/")
        .text.partition('aria-label="How sure the verdicts are"')[2]
        .partition("</section>")[0]
    )


def test_a_round_says_how_sure_its_verdicts_are_and_offers_what_would_say_more(releaser, counted):
    block = said(releaser, FIGURES)
    for sentence in round_sentences(FIGURES):
        assert sentence in block
    cost = 15 * counted.seat_cost  # 60 pairs, four in a HIT
    assert f'/twice/" data-act>Have 60 pairs judged twice (${cost})</a> · ' in block
    assert '?sort=drawn">Review 30 drawn at random</a>' in block
    more = said(releaser, FIGURES | {"several": 20})
    assert "Have 40 pairs judged twice" in more
    measured = said(releaser, REPEATED)
    assert "judged twice" not in measured
    assert "Review" not in measured


def test_a_round_of_too_few_controls_says_so_and_nothing_else(releaser, counted):
    block = said(releaser, SILENT)
    assert SILENT["silent"] in block
    assert not re.search(r"wrong|%|of 100|judged twice", block)
    assert said(releaser, None) == ""


def test_members_without_the_permissions_see_no_offer(member, counted):
    block = said(member, FIGURES)
    assert "about 36 are wrong" in block
    assert "<a " not in block
