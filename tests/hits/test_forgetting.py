import pytest
from django.core.management import CommandError, call_command

from hits.deciding import accept, mark_submitted
from hits.forgetting import forget_worker
from hits.leasing import lease_seat
from hits.models import Assignment, Worker, WorkerIdentity
from hits.settling import mark_paid
from hits.workers import give_consent, worker_for
from journal.errors import CounterpartError
from journal.models import Event
from tests.factories import make_round


@pytest.fixture
def worker(db) -> Worker:
    worker = worker_for(channel="mturk", environment="sandbox", external_id="SECRET1")
    give_consent(worker)
    return worker


def test_no_table_ties_a_forgotten_worker_to_the_platform(worker):
    worker_for(channel="mturk", environment="sandbox", external_id="OTHER")
    assert forget_worker(worker.pseudonym, actor="robin") == 1
    assert list(WorkerIdentity.objects.values_list("external_id", flat=True)) == ["OTHER"]
    assert not any("SECRET1" in str(vars(event)) for event in Event.objects.all())


def test_the_work_of_a_forgotten_worker_stays(worker):
    assignment = lease_seat(make_round(), worker=worker)
    forget_worker(worker.pseudonym, actor="robin")
    assert Assignment.objects.get() == assignment
    assert Event.objects.get(verb="forgotten").data == {"identities": 1}


def test_a_forgotten_worker_who_comes_back_is_somebody_new(worker):
    forget_worker(worker.pseudonym, actor="robin")
    assert worker_for(channel="mturk", environment="sandbox", external_id="SECRET1") != worker


def test_forgetting_twice_erases_nothing_more(worker):
    forget_worker(worker.pseudonym, actor="robin")
    assert forget_worker(worker.pseudonym, actor="robin") == 0


def test_a_worker_who_is_owed_money_is_paid_first(worker):
    assignment = lease_seat(make_round(), worker=worker)
    mark_submitted(assignment, active_seconds=1)
    accept(assignment)
    with pytest.raises(CounterpartError, match="still owed 1 payments"):
        forget_worker(worker.pseudonym, actor="robin")
    assert WorkerIdentity.objects.exists()
    mark_paid(assignment.payment, actor="robin")
    assert forget_worker(worker.pseudonym, actor="robin") == 1


def test_an_unknown_worker_is_refused(db):
    with pytest.raises(CommandError, match="There is no worker 'nobody'; give the pseudonym"):
        call_command("forget_worker", "nobody", "--yes")


def test_the_command_erases_where_told_not_to_ask(worker, capsys):
    call_command("forget_worker", worker.pseudonym, "--yes")
    assert "Erased 1 platform ids" in capsys.readouterr().out


def test_the_command_erases_once_told_yes(worker, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    call_command("forget_worker", worker.pseudonym)
    assert not WorkerIdentity.objects.exists()


@pytest.mark.parametrize("answer", ["n", "", "maybe"])
def test_the_command_erases_nothing_unless_told_yes(worker, monkeypatch, answer):
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    with pytest.raises(CommandError, match="Nothing was erased"):
        call_command("forget_worker", worker.pseudonym)
    assert WorkerIdentity.objects.exists()


def test_without_a_terminal_the_command_erases_nothing(worker, monkeypatch):
    def nobody_there(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody_there)
    with pytest.raises(CommandError, match="Nothing was erased"):
        call_command("forget_worker", worker.pseudonym)
    assert WorkerIdentity.objects.exists()
