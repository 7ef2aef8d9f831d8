"""Workers by pseudonym: what staff see of them; excluding, writing to and forgetting them."""

import json
from functools import partial

import pytest

from annotation.models import Assignment, Exclusion, Payment, Worker, WorkerIdentity
from annotation.people.admission import join_round
from annotation.people.workers import exclude, pause_worker
from annotation.work.grading import grade
from console.charts.measured_charts import chart_path
from console.pagination import page_of as pages
from console.workers import views
from core.files.stored_files import write_file
from core.models import Event
from crowd.models import Message
from hits.models import Round, Seat
from tests.annotation.answering import home_of
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_assignment, make_round, make_worker

PLATFORM_ID = "ASECRET1"


@pytest.fixture
def worker(db) -> Worker:
    """Somebody whom a platform sent and who answered one HIT, wrongly."""
    worker = answer_wrongly(make_round()).worker
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=PLATFORM_ID)
    return worker


def page_of(client, worker: Worker, part: str = "") -> str:
    return client.get(f"/workers/{worker.pseudonym}/{part}").text


def press(client, worker: Worker, part: str, **fields):
    return client.post(f"/workers/{worker.pseudonym}/{part}/", fields, follow=True)


def test_the_sums_of_the_list_are_over_all_its_workers(member, db, monkeypatch):
    made = make_round(hits=2)
    answer_rightly(made), answer_wrongly(made)
    monkeypatch.setattr(views, "page_of", partial(pages, size=1))
    context = member.get("/workers/").context
    totals = context["totals"]
    assert (len(context["rows"]), totals["submitted"], totals["flagged"], totals["excluded"]) == (1, 2, 1, 0)
    assert member.get("/workers/?show=excluded").context["totals"]["submitted"] == 0


def test_a_worker_is_shown_with_their_rounds_work_and_pay(member, db):
    worker = answer_rightly(make_round()).worker
    page = page_of(member, worker)
    assert 'href="?round=round-1"' in page
    assert "accepted" in page
    assert "$0.65" in page


def test_what_is_owed_and_what_was_paid_are_told_apart(member, db):
    worker = answer_rightly(make_round()).worker
    shown = []
    for _ in range(2):
        (line,) = member.get(f"/workers/{worker.pseudonym}/").context["rounds"]
        shown.append((str(line.owed), str(line.paid)))
        Payment.objects.update(state="paid")
    assert shown == [("0.65", "0.00"), ("0.00", "0.65")]


def test_a_worker_whom_the_chart_of_mimicry_flags_is_shown_with_the_evidence(member, worker):
    made = Round.objects.get()
    row = {"annotator": "vse", "auc": 0.973, "expected_auc": 0.81, "adjusted_p": 0.0004, "result": "flagged"}
    others = [{**row, "worker": "someone-else", "annotator": "clip"}]
    keep_chart(made, [{**row, "worker": worker.pseudonym}, *others])
    page = page_of(member, worker)
    assert "Answers follow the ranking of vse beyond the pairs' matches: AUC 0.97, 0.81 expected" in page
    assert "adjusted p &lt; 0.001, in round" in page
    assert 'href="/charts/round/round-1/mimicry/"' in page
    assert "clip" not in page


def test_a_worker_who_is_not_flagged_has_no_line_of_it(member, worker):
    assert "Answers follow" not in page_of(member, worker)
    keep_chart(Round.objects.get(), [{"worker": worker.pseudonym, "result": "not flagged"}])
    assert "Answers follow" not in page_of(member, worker)


def keep_chart(made: Round, rows: list[dict]) -> None:
    write_file(chart_path(made, "mimicry", ""), json.dumps({"rows": rows}).encode())


def test_nobody_is_shown_a_platform_id(releaser, worker):
    exclude(worker, reason="Careless.", by="robin")
    Message.objects.create(worker=worker, subject="Hello", text="Thanks.", by="robin", failure=f"No {PLATFORM_ID}.")
    for path in ("/workers/", f"/workers/{worker.pseudonym}/", f"/workers/{worker.pseudonym}/forget/"):
        page = releaser.get(path).text
        assert worker.pseudonym in page
        assert PLATFORM_ID not in page


def test_one_rounds_work_is_kept_apart(member, worker):
    other = make_round(worker.assignments.get().hit.round.pool.collection, name="other")
    Assignment.objects.create(
        seat=other.hits.get().seats.get(), hit=other.hits.get(), worker=worker, deadline="2027-01-01T00:00Z"
    )
    assert len(member.get(f"/workers/{worker.pseudonym}/").context["rows"]) == 2
    shown = member.get(f"/workers/{worker.pseudonym}/?round=round-1")
    assert [row.hit.round.name for row in shown.context["rows"]] == ["round-1"]
    assert shown.context["record"].submitted == 1


def test_a_worker_who_did_nothing_has_an_empty_page(member, db):
    page = page_of(member, make_worker())
    assert "No HITs yet." in page
    assert "No payments yet." in page


def test_members_see_no_buttons(member, worker):
    page = page_of(member, worker)
    assert not any(word in page for word in ("Exclude…", "Write…", "Forget…"))


def test_only_admins_are_offered_to_forget(researcher, releaser, worker):
    assert "Forget…" not in page_of(researcher, worker)
    assert "Forget…" in page_of(releaser, worker)


def test_excluding_says_what_it_means_and_does_nothing_yet(reviewer, worker):
    assert "They get no more HITs in any round" in page_of(reviewer, worker, "exclude/")
    assert not Exclusion.objects.exists()


@pytest.mark.parametrize("who", ["reviewer", "researcher"])
def test_a_worker_is_excluded_with_a_reason(request, worker, platform, who):
    answer = press(request.getfixturevalue(who), worker, "exclude", reason="Scripted answers.")
    assert "is excluded and gets no more HITs" in answer.text
    assert "Scripted answers." in answer.text
    assert (Exclusion.objects.get().by, Exclusion.objects.get().call) == (who, Exclusion.Call.WANTED)


def test_an_exclusion_without_a_reason_is_told_on_the_page(reviewer, worker):
    answer = press(reviewer, worker, "exclude", reason=" ")
    assert (answer.status_code, "The reason is empty" in answer.text) == (422, True)
    assert not Exclusion.objects.exists()


def test_an_exclusion_is_lifted_and_stays_on_the_page(reviewer, worker, platform):
    press(reviewer, worker, "exclude", reason="Scripted answers.")
    answer = press(reviewer, worker, "readmit")
    assert "can take HITs again" in answer.text
    assert "Lifted exclusions" in answer.text
    assert "is not excluded" in press(reviewer, worker, "readmit").text


def test_the_list_is_narrowed_to_the_excluded(member, worker, platform):
    make_worker()
    exclude(worker, reason="Careless.", by="robin")
    assert len(member.get("/workers/").context["rows"]) == 2
    assert [row.pk for row in member.get("/workers/?show=excluded").context["rows"]] == [worker.pk]


def test_empty_lists_of_workers_say_so(member, db):
    assert "No workers yet." in member.get("/workers/").text
    assert "No excluded workers." in member.get("/workers/?show=excluded").text


def test_a_message_goes_out_and_stands_on_the_page(researcher, worker, platform, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = press(researcher, worker, "write", subject="Thank you", text="Your notes helped.")
    assert "Your notes helped." in answer.text
    assert [call for call, _ in platform.calls] == ["message"]
    assert Message.objects.get().by == "researcher"


def test_words_that_no_platform_takes_are_kept_on_the_page(researcher, worker, platform):
    for words, told in (
        ({"subject": "", "text": "Words."}, "The subject is empty"),
        ({"subject": "Thanks", "text": "x" * 4097}, "shorten it to 4,096"),
        ({"subject": "Tha\x07nks", "text": "Words."}, "1 control character"),
    ):
        answer = press(researcher, worker, "write", **words)
        assert (answer.status_code, told in answer.text) == (422, True)
        assert words["text"][:20] in answer.text
    assert not Message.objects.exists()


def test_whoever_came_by_the_join_link_cannot_be_written_to(researcher, db):
    worker = answer_wrongly(make_round()).worker
    assert "has no address for messages" in page_of(researcher, worker, "write/")
    assert "cannot be written to" not in page_of(researcher, worker)


def test_forgetting_says_that_it_is_for_ever_and_needs_the_pseudonym(releaser, worker):
    assert "This cannot be undone." in page_of(releaser, worker, "forget/")
    for typed in ("", "yes", PLATFORM_ID):
        answer = press(releaser, worker, "forget", typed=typed)
        assert (answer.status_code, "Type the pseudonym" in answer.text) == (422, True)
    assert WorkerIdentity.objects.exists()


def test_an_admin_forgets_a_worker_whose_work_stays(releaser, worker):
    answer = press(releaser, worker, "forget", typed=worker.pseudonym)
    assert "1 platform id of worker" in answer.text
    assert "no platform ID (erased, or joined by link)" in answer.text
    assert (WorkerIdentity.objects.count(), Assignment.objects.count()) == (0, 1)


def test_a_worker_who_is_owed_money_is_not_forgotten(releaser, db):
    assignment = answer_rightly(make_round())
    grade(assignment)
    answer = press(releaser, assignment.worker, "forget", typed=assignment.worker.pseudonym)
    assert "still owed 1 payment" in answer.text


def test_a_pseudonym_that_is_none_is_not_found(releaser, db):
    for part in ("", "exclude/", "write/", "forget/"):
        assert releaser.get(f"/workers/nobody/{part}").status_code == 404, part


def test_a_workers_page_asks_no_more_for_more_work(member, django_assert_max_num_queries):
    made, worker = make_round(hits=6), make_worker()
    for hit in made.hits.all():
        Assignment.objects.create(seat=hit.seats.get(), hit=hit, worker=worker, deadline="2027-01-01T00:00Z")
    with django_assert_max_num_queries(23):
        assert member.get(f"/workers/{worker.pseudonym}/").status_code == 200


def test_the_list_of_workers_asks_no_more_for_more_of_them(member, db, django_assert_max_num_queries):
    for _ in range(6):
        make_worker()
    with django_assert_max_num_queries(7):
        assert member.get("/workers/").status_code == 200


def test_workers_are_listed_in_the_order_asked_for(member, db):
    made = make_round(hits=3)
    busy = answer_rightly(made).worker
    wrong = answer_wrongly(made).worker
    earlier = make_assignment(Seat.objects.filter(hit__round=made, state="open").get(), busy)
    Assignment.objects.filter(pk=earlier.pk).update(submitted_at="2020-01-01T00:00Z", state="accepted")
    names = {busy.pk: "busy", wrong.pk: "wrong", make_worker().pk: "idle"}
    orders = {
        "submitted": ["busy", "wrong", "idle"],
        "flagged": ["wrong", "idle", "busy"],
        "last": ["wrong", "busy", "idle"],
        "first": ["idle", "wrong", "busy"],
        "nonsense": ["idle", "wrong", "busy"],
    }
    for sort, order in orders.items():
        page = member.get("/workers/", {"sort": sort})
        assert [names[row.pk] for row in page.context["rows"]] == order, sort
        assert page.text.count("aria-sort") == 1


def test_a_simulated_worker_is_marked_in_the_list(member, worker):
    assert "simulated" not in member.get("/workers/").text
    Worker.objects.filter(pk=worker.pk).update(simulated=True)
    assert 'data-state="simulated">simulated</span>' in member.get("/workers/").text


def test_a_simulated_worker_has_a_page(reviewer, worker):
    WorkerIdentity.objects.create(worker=worker, channel="simulation", external_id="w1")
    assert " and simulation<" in page_of(reviewer, worker)


def test_a_new_link_voids_the_old_one_and_is_shown_once(researcher, stranger, db):
    round = make_round()
    worker = make_worker()
    join_round(round, worker)
    old = home_of(worker, round)
    (new,) = press(researcher, worker, "link").context["links"].values()
    assert new.startswith("http://127.0.0.1:8000/judge/me/")
    assert [stranger.get(link).status_code for link in (old, new)] == [410, 200]
    assert new not in page_of(researcher, worker, "link/")
    assert Event.objects.get(verb="given a new link").actor == "researcher"


def test_a_worker_is_paused_in_a_round_with_a_reason_and_resumed(reviewer, db):
    worker = answer_rightly(make_round(hits=2)).worker
    assert "/pause/round-1/" in page_of(reviewer, worker)
    assert "The reason is empty" in press(reviewer, worker, "pause/round-1", reason=" ").text
    assert "Paused in round-1 since" in press(reviewer, worker, "pause/round-1", reason="Too fast.").text
    assert "Paused in" not in press(reviewer, worker, "resume/round-1").text
    assert "is not paused in round round-1" in press(reviewer, worker, "resume/round-1").text


def test_who_may_not_pause_reads_the_pause_and_has_no_button(member, db):
    made = make_round(hits=2)
    worker = answer_rightly(made).worker
    pause_worker(worker, round=made, reason="Too fast.", by="robin")
    page = page_of(member, worker)
    assert "Paused in round-1 since" in page
    assert "/resume/round-1/" not in page
