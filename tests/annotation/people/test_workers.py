"""Who works: pseudonyms, exclusions, pauses, and words of platforms without their ids."""

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import JSONField, TextField
from django.utils import timezone

from annotation.models import Appeal, Assignment, Decision, Exclusion, Pause, Payment, Rejection, Worker, WorkerIdentity
from annotation.money.payments import mark_paid
from annotation.people.admission import NotAdmittedError
from annotation.people.consent import give_consent
from annotation.people.erasure import forget_worker
from annotation.people.workers import actor_of, exclude, mask_workers, pause_worker, readmit, resume_worker, worker_for
from annotation.work.grading import accept
from annotation.work.leases import lease_seat
from annotation.work.submissions import mark_submitted
from core import events
from core.errors import CounterpartError
from core.models import Event
from crowd.models import Message, Outbox, Visit
from tests.annotation.answering import home_of, right_answers, submit
from tests.annotation.money.moneyed import accepted, begin, posted
from tests.factories import make_collection, make_round, make_worker


@pytest.mark.parametrize(("environment", "is_same"), [("sandbox", True), ("production", False)])
def test_the_same_platform_id_is_the_same_worker_in_one_environment(db, environment, is_same):
    first = worker_for(channel="mturk", environment="sandbox", external_id="A1")
    assert (worker_for(channel="mturk", environment=environment, external_id="A1") == first) == is_same
    assert Worker.objects.count() == 2 - is_same


def test_a_platform_id_is_in_the_identity_alone(db):
    worker = worker_for(channel="mturk", external_id="SECRET1")
    assert "SECRET1" not in str(worker.pseudonym)
    assert not any("SECRET1" in str(vars(event)) for event in Event.objects.all())


def test_two_first_visits_at_once_make_one_worker(db, monkeypatch):
    known = worker_for(channel="browser", external_id="x")
    monkeypatch.setattr("django.db.models.QuerySet.first", lambda rows: None)  # neither finds the other's row
    assert worker_for(channel="browser", external_id="x") == known
    assert Worker.objects.count() == 1


@pytest.mark.parametrize("verb", ["arrived", "consented"])
def test_each_step_is_written_into_the_journal_under_the_pseudonym(db, verb):
    worker = worker_for(channel="browser", external_id="x")
    give_consent(worker)
    assert Event.objects.get(verb=verb).actor == actor_of(worker) == f"worker:{worker.pseudonym}"


def named(external_id: str) -> str:
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=external_id)
    return worker.pseudonym


def test_a_platforms_words_name_workers_by_pseudonym_with_one_query_and_others_stay(db, django_assert_max_num_queries):
    one, two = named("ASECRET1"), named("ASECRET2")
    assert mask_workers(["Worker ASECRET1 is unknown (ASECRET2)."]) == [f"Worker {one} is unknown ({two})."]
    texts = ["HIT ASECRET12 is gone.", "", "A reason, said plainly."]
    assert mask_workers(texts) == texts
    with django_assert_max_num_queries(1):
        mask_workers(["ASECRET1 once", "ASECRET1 twice", "a text"])


def known(channel="mturk", environment="sandbox"):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel=channel, environment=environment, external_id=f"A{worker.pk}")
    return worker


def test_a_worker_of_the_pool_is_excluded_without_any_call(db):
    exclude(known("browser", ""), reason="Scripted answers.", by="robin")
    assert (Exclusion.objects.count(), Outbox.objects.count()) == (1, 0)


def test_an_exclusion_needs_a_reason_and_holds_once(db):
    worker = make_worker()
    with pytest.raises(CounterpartError, match="reason"):
        exclude(worker, reason=" ", by="robin")
    with pytest.raises(CounterpartError, match="not excluded"):
        readmit(worker, by="sam")
    exclude(worker, reason="Scripted answers.", by="robin")
    with pytest.raises(CounterpartError, match="already"):
        exclude(worker, reason="Again.", by="sam")
    assert Exclusion.objects.get().by == "robin"


def test_an_exclusion_is_sent_to_the_platforms_that_know_the_worker_and_stays_on_record_once_lifted(
    db, platform, commit
):
    worker = known()
    with commit(execute=True):
        exclude(worker, reason="Scripted answers.", by="robin")
    with commit(execute=True):
        readmit(worker, by="sam")
    assert Exclusion.objects.get().lifted_at is not None
    assert [call for call, _ in platform.calls] == ["exclude", "readmit"]
    assert Event.objects.get(verb="readmitted").actor == "sam"


def pause(worker, made) -> Pause:
    return pause_worker(worker, round=made, reason="Look at the answers first.", by="robin")


def test_a_paused_worker_gets_no_hit_of_the_round_until_resumed(made):
    worker = make_worker()
    pause(worker, made)
    with pytest.raises(NotAdmittedError, match="is paused"):
        lease_seat(made, worker=worker)
    resume_worker(worker, round=made, by="sam")
    assert lease_seat(made, worker=worker)
    assert [*Event.objects.filter(verb__endswith="in a round").values_list("verb", "actor").order_by("pk")] == [
        ("paused in a round", "robin"),
        ("resumed in a round", "sam"),
    ]


def test_other_rounds_and_other_workers_go_on(made):
    worker = make_worker()
    pause(worker, made)
    assert lease_seat(make_round(make_collection("other"), "round-2"), worker=worker)
    assert lease_seat(made, worker=make_worker())


def test_what_a_paused_worker_holds_they_may_finish(client, made):
    worker = make_worker()
    held = lease_seat(made, worker=worker)
    pause(worker, made)
    assert right_answers(held)
    assert submit(client, held).status_code == 302
    assert Assignment.objects.get().submitted_at


def test_a_pause_needs_a_reason_and_holds_once(made):
    worker = make_worker()
    with pytest.raises(CounterpartError, match="reason"):
        pause_worker(worker, round=made, reason=" ", by="robin")
    pause(worker, made)
    with pytest.raises(CounterpartError, match="already"):
        pause(worker, made)
    resume_worker(worker, round=made, by="robin")
    with pytest.raises(CounterpartError, match="not paused"):
        resume_worker(worker, round=made, by="robin")


def test_the_workers_page_says_that_they_are_paused_and_taking_a_hit_leads_back_there(client, made):
    worker = make_worker()
    pause(worker, made)
    page = home_of(worker, made)
    assert "You are paused in this round" in client.get(page).text
    answer = client.post(f"{page}take/", follow=True)
    assert "You are paused in this round" in answer.text
    assert not Assignment.objects.exists()


# Workers who are forgotten: no id and no word of theirs is left

record = transaction.atomic(events.record)


@pytest.fixture
def worker(db) -> Worker:
    worker = worker_for(channel="mturk", environment="sandbox", external_id="SECRETID1")
    give_consent(worker)
    return worker


def test_no_table_ties_a_forgotten_worker_to_the_platform_and_who_comes_back_is_new(worker):
    worker_for(channel="mturk", environment="sandbox", external_id="OTHER")
    assert forget_worker(worker.pseudonym, actor="robin") == 1
    assert list(WorkerIdentity.objects.values_list("external_id", flat=True)) == ["OTHER"]
    assert not any("SECRETID1" in str(vars(event)) for event in Event.objects.all())
    assert worker_for(channel="mturk", environment="sandbox", external_id="SECRETID1") != worker


def texts_in_the_database() -> str:
    """The content of every column of every table."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        rows = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows += cursor.fetchall()
    return repr(rows)


def leave_traces(worker: Worker, person) -> Assignment:
    """Put the platform's id of the worker wherever words are stored, as careless people and platforms do."""
    made = posted()
    assignment = accepted(made)
    said = "Worker SECRETID1 wrote as SECRETID1."
    Assignment.objects.update(worker=worker, problem=said)
    Visit.objects.update(worker=worker, content=f"<Answer>{said}</Answer>")
    Message.objects.create(worker=worker, subject="Dear SECRETID1", text=said, by="robin", failure=said)
    Exclusion.objects.create(worker=worker, reason=said, by="robin")
    words = {"grounds": "random", "reason": said, "evidence": said, "dropped_at": timezone.now()}
    rejection = Rejection.objects.create(assignment=assignment, by=person, **words)
    Appeal.objects.create(
        assignment=rejection.assignment, rejection=rejection, text="I am Jo of SECRETID1", answer=said
    )
    Decision.objects.update(reason=said)
    Outbox.objects.update(error=said, payload={"SECRETID1": [said]})
    record("noted", assignment, actor="robin", said=said)
    Payment.objects.update(state="paid", reason=said)
    return assignment


def test_no_id_of_a_forgotten_worker_is_left_and_those_of_assignments_and_other_words_stay(worker, person, platform):
    leave_traces(worker, person)
    assert "SECRETID1" in texts_in_the_database()
    before = Assignment.objects.get().outside_key
    forget_worker(worker.pseudonym, actor="robin")
    left = texts_in_the_database()
    assert "SECRETID1" not in left
    assert "I am Jo" not in left
    work = Assignment.objects.get()
    assert (work.outside_key, work.visit.content, work.worker) == (before, "[erased]", worker)
    assert Exclusion.objects.get().reason == "Worker [erased] wrote as [erased]."
    assert Outbox.objects.first().payload == {"[erased]": ["Worker [erased] wrote as [erased]."]}


def test_names_and_folders_that_hold_a_forgotten_id_stay_as_they_are(worker):
    round = make_round(name="SECRETID1-pilot")
    record("packed", round, actor="robin")
    forget_worker(worker.pseudonym, actor="robin")
    round.refresh_from_db()
    assert round.name == "SECRETID1-pilot"


def test_every_column_of_text_is_declared_free_or_known_to_hold_no_words_about_people():
    columns = {
        f"{model._meta.label}.{field.name}"
        for app in ("core", "hits", "annotation", "crowd")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, TextField | JSONField)
        and field.name not in (*getattr(model, "free_text", ()), *getattr(model, "personal_text", ()))
    }
    known = {
        "core.Job": "asked params",
        "hits.Round": "design summary offer fees",
        "hits.TopUp": "avoided opened rankings rejected",
        "hits.Item": "content",
        "annotation.Assignment": "repeats signals",
        "annotation.Norm": "annotators pace shares weights",
        "annotation.TestAttempt": "answers",
        "annotation.TestItem": "reason sentence",
        "annotation.ConsentSheet": "text",
        "annotation.ConsentWords": "examples levels",
        "crowd.Visit": "finish_fields",
    }
    assert columns == {f"{model}.{name}" for model, names in known.items() for name in names.split()}


@pytest.mark.parametrize(
    ("channel", "external_id", "said"),
    [
        ("mturk", "AB", "round AB-pilot"),  # too short for an id of a platform
        ("mturk", "SECRETID1", "SECRETID12 and ASECRETID1"),  # longer words
        ("browser", "1", "page 1"),  # an id of our own pool
    ],
)
def test_other_words_than_a_platforms_id_stay(db, channel, external_id, said):
    worker = worker_for(channel=channel, external_id=external_id)
    record("noted", worker, actor="robin", said=said)
    assert [forget_worker(worker.pseudonym, actor="robin") for _ in range(2)] == [1, 0]
    assert Event.objects.get(verb="noted").data == {"said": said}


def test_work_that_was_not_taken_in_is_taken_in_first(worker, platform):
    begin(posted())
    Assignment.objects.update(worker=worker, seat=None)
    with pytest.raises(CounterpartError, match="1 submission"):
        forget_worker(worker.pseudonym, actor="robin")
    assert WorkerIdentity.objects.filter(external_id="SECRETID1").exists()


def test_a_worker_who_is_owed_money_is_paid_first(worker):
    assignment = lease_seat(make_round(), worker=worker)
    mark_submitted(assignment, active_seconds=1)
    accept(assignment)
    with pytest.raises(CounterpartError, match="still owed 1 payment"):
        forget_worker(worker.pseudonym, actor="robin")
    assert WorkerIdentity.objects.exists()
    mark_paid(assignment.payments.get(), actor="robin")
    assert forget_worker(worker.pseudonym, actor="robin") == 1


def test_the_command_erases_at_once_with_yes(worker, capsys):
    call_command("forget_worker", worker.pseudonym, "--yes")
    assert "Erased 1 platform id" in capsys.readouterr().out


def test_the_command_erases_nothing_without_a_yes(worker, monkeypatch):
    def closed(prompt):
        raise EOFError

    for asked in (lambda prompt: "n", lambda prompt: "", lambda prompt: "maybe", closed):
        monkeypatch.setattr("builtins.input", asked)
        with pytest.raises(CommandError, match="Nothing was erased"):
            call_command("forget_worker", worker.pseudonym)
    assert WorkerIdentity.objects.exists()
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    call_command("forget_worker", worker.pseudonym)
    assert not WorkerIdentity.objects.exists()
