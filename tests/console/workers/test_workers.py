"""Workers by pseudonym: what staff see of them; excluding, writing to and forgetting them."""

import json

import pytest

from annotation.models import Assignment, Exclusion, Payment, Worker, WorkerIdentity
from annotation.people.admission import join_round
from annotation.people.workers import exclude
from console.charts.plots import chart_path
from core.files.stored_files import write_file
from core.models import Event
from crowd.models import Message, Outbox
from hits.models import Round
from tests.annotation.answering import home_of
from tests.annotation.money.moneyed import accepted, posted
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round, make_worker

PLATFORM_ID = "ASECRET1"


@pytest.fixture
def worker(db) -> Worker:
    """A worker of a platform who answered one HIT, wrongly."""
    worker = answer_wrongly(make_round()).worker
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=PLATFORM_ID)
    return worker


def page_of(client, worker: Worker, part: str = "") -> str:
    return client.get(f"/workers/{worker.pseudonym}/{part}").text


def press(client, worker: Worker, part: str, **fields):
    return client.post(f"/workers/{worker.pseudonym}/{part}/", fields, follow=True)


def test_owed_and_paid_amounts_are_shown_apart(member, db):
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
    rows = [{**row, "worker": worker.pseudonym}, *others]
    write_file(chart_path(made, "mimicry", ""), json.dumps({"rows": rows}).encode())
    page = page_of(member, worker)
    assert "higher in 97% of the cases; 81% are expected" in page
    assert "adjusted p &lt; 0.001" in page
    assert "round/round-1/mimicry/" in page
    assert "clip" not in page


def test_no_page_shows_a_platform_id(releaser, worker):
    exclude(worker, reason="Careless.", by="robin")
    Message.objects.create(worker=worker, subject="Hello", text="Thanks.", by="robin", failure=f"No {PLATFORM_ID}.")
    for path in ("/workers/", f"/workers/{worker.pseudonym}/", f"/workers/{worker.pseudonym}/forget/"):
        page = releaser.get(path).text
        assert worker.pseudonym in page
        assert PLATFORM_ID not in page


@pytest.mark.parametrize("who", ["reviewer", "researcher"])
def test_a_worker_is_excluded_with_a_reason(request, worker, platform, who):
    answer = press(request.getfixturevalue(who), worker, "exclude", reason="Scripted answers.")
    assert "is excluded" in answer.text
    assert "Scripted answers." in answer.text
    assert (Exclusion.objects.get().by, Exclusion.objects.get().call) == (who, Exclusion.Call.WANTED)


def test_an_exclusion_is_lifted_and_stays_on_the_page(reviewer, worker, platform):
    press(reviewer, worker, "exclude", reason="Scripted answers.")
    answer = press(reviewer, worker, "readmit")
    assert "can take HITs again" in answer.text
    assert "Lifted exclusions" in answer.text
    assert "is not excluded" in press(reviewer, worker, "readmit").text


def test_a_message_is_sent_and_listed_on_the_page(researcher, worker, platform, commit):
    with commit(execute=True):
        answer = press(researcher, worker, "write", subject="Thank you", text="Your notes helped.")
    assert "Your notes helped." in answer.text
    assert [call for call, _ in platform.calls] == ["message"]
    assert Message.objects.get().by == "researcher"


def test_forgetting_says_that_it_is_for_ever_and_needs_the_pseudonym(releaser, worker):
    assert "This cannot be undone." in page_of(releaser, worker, "forget/")
    for typed, status in (("", 422), ("yes", 409), (PLATFORM_ID, 409)):
        answer = press(releaser, worker, "forget", typed=typed)
        assert (answer.status_code, "Type the pseudonym" in answer.text) == (status, True)
    assert WorkerIdentity.objects.exists()


def test_an_admin_forgets_a_worker_whose_work_stays(releaser, worker):
    answer = press(releaser, worker, "forget", typed=worker.pseudonym)
    assert "1 platform id of worker" in answer.text
    assert (WorkerIdentity.objects.count(), Assignment.objects.count()) == (0, 1)


def test_workers_with_flagged_work_come_first_and_those_without_work_last(member, db):
    made = make_round(hits=3)
    idle, busy, wrong = make_worker(), answer_rightly(made).worker, answer_wrongly(made).worker
    answer_rightly(made)
    rows = [row.pk for row in member.get("/workers/").context["rows"]]
    assert (rows[0], rows[-1]) == (wrong.pk, idle.pk)
    assert busy.pk in rows
    assert member.get("/workers/?show=excluded").context["rows"].paginator.count == 0


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
    assert press(reviewer, worker, "pause/round-1", reason=" ").status_code == 422
    assert "Paused in round-1 since" in press(reviewer, worker, "pause/round-1", reason="Too fast.").text
    assert "Paused in" not in press(reviewer, worker, "resume/round-1").text
    assert "is not paused" in press(reviewer, worker, "resume/round-1").text


# A message to all workers of a round: it is sent only after their number was shown


WORDS = {"subject": "Thank you", "text": "Your notes helped."}


@pytest.fixture
def there(platform, db) -> Round:
    """A round on a platform with the work of two people."""
    made = posted(hits=2)
    for name in ("A1", "A2"):
        worker = accepted(made).worker
        WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=name)
    return made


def send(client, made: Round, **fields: str):
    return client.post(f"/rounds/{made}/write/", WORDS | fields, follow=True)


def test_the_number_of_workers_is_shown_before_anybody_is_written_to(researcher, there):
    page = send(researcher, there)
    assert "2 workers" in page.text
    assert "Your notes helped." in page.text
    assert all(worker.pseudonym in page.text for worker in Worker.objects.all())
    assert not Message.objects.exists()


def test_a_confirmed_message_goes_to_everybody_once(researcher, there):
    assert "is being sent to 2 workers" in send(researcher, there, shown="2").text
    assert (Message.objects.count(), Outbox.objects.filter(call="message").count()) == (2, 1)
    again = send(researcher, there, shown="2")
    assert (again.status_code, "a moment ago" in again.text) == (409, True)
    assert Message.objects.count() == 2


def test_a_number_that_has_changed_is_shown_again(researcher, there):
    assert send(researcher, there, shown="1").context["shown"].key == "2"
    assert not Message.objects.exists()
