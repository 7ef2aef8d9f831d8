"""The payroll of the browser pool: what is exported to be paid, and imported once it was paid."""

import csv
import io
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Payment, Worker, WorkerIdentity
from annotation.money.ledger import balances
from annotation.money.payroll import Marked, mark_wages, wages_of, write_wages
from annotation.people.receipts import completion_code
from annotation.people.workers import mark_simulated
from annotation.work.grading import accept
from annotation.work.leases import lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from hits.models import Round
from tests.at_once import at_once
from tests.factories import make_round, make_worker, put_on_platform


def earn(made: Round, worker: Worker, *, hits: int = 1) -> None:
    for _ in range(hits):
        assignment = lease_seat(made, worker=worker)
        mark_submitted(assignment, active_seconds=60)
        accept(Assignment.objects.get(pk=assignment.pk))


@pytest.fixture
def ann(db) -> Worker:
    return make_worker()


@pytest.fixture
def bob(db) -> Worker:
    return make_worker()


@pytest.fixture
def owing(ann, bob) -> Round:
    """A round that owes Ann two rewards and Bob one."""
    owing = make_round(hits=4)
    earn(owing, ann, hits=2)
    earn(owing, bob)
    return owing


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def written(rows: list[dict[str, str]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def mark(made: Round, text: str) -> Marked:
    """Mark the list of this text."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "owed.csv"
        file.write_text(text, encoding="utf-8", newline="")
        return mark_wages(made, file, actor="robin")


def paid() -> int:
    return Payment.objects.filter(state="paid").count()


def test_the_list_has_a_row_for_each_worker_who_is_owed_money(owing, ann, bob):
    rows = read(write_wages(owing))
    assert [(row["worker"], row["hits"], row["amount"]) for row in rows] == [
        (ann.pseudonym, "2", "1.30"),
        (bob.pseudonym, "1", "0.65"),
    ]
    assert rows[1]["completion_code"] == completion_code(owing, bob)
    assert rows[1]["receipts"] == Assignment.objects.get(worker=bob).receipt
    assert rows[0]["payments"].split() == [str(p.pk) for p in Payment.objects.filter(assignment__worker=ann)]


def test_what_is_paid_or_withdrawn_is_not_on_it(owing, ann, bob):
    Payment.objects.filter(assignment__worker=ann).update(state="withdrawn")
    Payment.objects.filter(assignment__worker=bob).update(state="paid")
    assert wages_of(owing) == []


def test_a_bonus_is_added_to_the_reward_and_does_not_count_as_a_hit(owing, bob):
    assignment = Assignment.objects.get(worker=bob)
    Payment.objects.create(round=owing, assignment=assignment, kind="bonus", reason="late", amount=Decimal("0.35"))
    row = read(write_wages(owing))[1]
    assert (row["hits"], row["amount"], row["receipts"]) == ("1", "1.00", assignment.receipt)


def test_a_platforms_id_is_there_where_there_is_one_and_the_pools_own_is_not(owing, ann, bob):
    WorkerIdentity.objects.create(worker=ann, channel="mturk", environment="emulator", external_id="A1")
    WorkerIdentity.objects.create(worker=bob, channel="browser", external_id="random")
    assert [(row["platform"], row["platform_id"]) for row in read(write_wages(owing))] == [("mturk", "A1"), ("", "")]


def test_no_cell_is_a_formula(owing, ann):
    identity = WorkerIdentity.objects.create(worker=ann, channel="mturk", environment="emulator")
    for evil in ("=cmd()", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"):
        identity.external_id = evil
        identity.save()
        assert read(write_wages(owing))[0]["platform_id"] == f"'{evil}"


def test_the_list_takes_as_many_queries_for_many_workers(owing, django_assert_num_queries):
    earn(owing, make_worker())
    with django_assert_num_queries(2):
        write_wages(owing)


def test_the_list_given_back_marks_all_of_it_paid_and_given_back_twice_nothing_more(owing):
    listed = write_wages(owing)
    marked = mark(owing, listed)
    assert (marked.payments, marked.amount, marked.before) == (3, Decimal("1.95"), 0)
    assert paid() == 3
    assert Event.objects.filter(verb="paid", actor="robin").count() == 3
    assert balances(owing)["paid"] == Decimal("1.95")
    marked = mark(owing, listed)
    assert (marked.payments, marked.amount, marked.before) == (0, Decimal(0), 3)
    assert Event.objects.filter(verb="paid").count() == 3


def test_given_back_twice_at_once_it_is_marked_once(transactional_db):
    made = make_round(hits=2)
    earn(made, make_worker(), hits=2)
    listed = write_wages(made)
    marked = at_once(*[lambda: mark(made, listed)] * 3)
    assert sum(one.payments for one in marked) == 2
    assert Event.objects.filter(verb="paid").count() == 2


def test_workers_taken_out_of_it_are_still_owed(owing, ann, bob):
    mark(owing, written(read(write_wages(owing))[1:]))
    assert [wage.worker for wage in wages_of(owing)] == [ann]


def test_what_was_earned_since_is_not_marked(owing, bob):
    listed = write_wages(owing)
    earn(owing, bob)
    mark(owing, listed)
    assert [(wage.worker, wage.amount) for wage in wages_of(owing)] == [(bob, Decimal("0.65"))]


def test_what_a_spreadsheet_makes_of_it_is_understood(owing):
    rows = [{name: row[name] for name in ("payments", "amount", "worker")} for row in read(write_wages(owing))]
    rows[0]["amount"], rows[1]["amount"] = "1,30", "$0.650"
    text = "\n".join(";".join(row) for row in [rows[0].keys(), *(row.values() for row in rows)])
    assert mark(owing, text).payments == 3


def test_a_wrong_amount_is_refused_by_name_and_nothing_is_marked(owing, ann):
    rows = read(write_wages(owing))
    for amount in ("1.29", "", "much", "NaN", "sNaN", "-1.30", "130", "1.30.0"):
        rows[0]["amount"] = amount
        with pytest.raises(CounterpartError, match=f"Line 3, .*{ann.pseudonym}"):
            mark(owing, written(rows[::-1]))
    assert paid() == 0


def test_payments_that_are_not_the_workers_are_refused(owing, bob):
    rows = read(write_wages(owing))
    for keys in ("", "999999", "x", "1; DROP", "9" * 30, rows[0]["payments"]):
        rows[1]["payments"] = keys
        with pytest.raises(CounterpartError, match=f"{bob.pseudonym}: only 0"):
            mark(owing, written(rows[1:]))
    assert paid() == 0


def test_a_row_given_twice_another_rounds_list_and_a_round_that_its_platform_pays_are_refused(owing):
    rows = read(write_wages(owing))
    with pytest.raises(CounterpartError, match="same payment"):
        mark(owing, written([*rows, rows[0]]))
    assert paid() == 0
    other = make_round(owing.pool.collection, "other")
    with pytest.raises(CounterpartError, match="in round other"):
        mark(other, write_wages(owing))
    put_on_platform(owing)
    with pytest.raises(CounterpartError, match="is paid by mturk itself"):
        mark(owing, write_wages(owing))
    assert paid() == 0


def test_a_payment_withdrawn_since_is_refused(owing, ann):
    listed = write_wages(owing)
    first = Payment.objects.filter(assignment__worker=ann).first()
    Payment.objects.filter(pk=first.pk).update(state="withdrawn")
    with pytest.raises(CounterpartError, match=f"since: {first.pk}"):
        mark(owing, listed)
    assert paid() == 0


def test_another_file_is_refused(owing):
    refused = {"": "empty", "name,sum\nann,1\n": "no column", "worker,amount\nann,1\n": "no column", "a\0": "NUL"}
    for text, said in refused.items():
        with pytest.raises(CounterpartError, match=said):
            mark(owing, text)
    with pytest.raises(CounterpartError, match="line 1"):
        mark(owing, "w" * 200_000 + "\n1,2\n")


def test_the_commands_write_the_list_and_take_it_back(owing, tmp_path, capsys):
    path = tmp_path / "owed.csv"
    call_command("pay", "list", "round-1", "--csv", str(path))
    assert "$1.95" in capsys.readouterr().out
    call_command("pay", "mark", "round-1", "--csv", str(path))
    assert "3 payments" in capsys.readouterr().out
    call_command("pay", "list", "round-1", "--csv", str(tmp_path / "again.csv"))
    assert "no file was written" in capsys.readouterr().out
    assert not (tmp_path / "again.csv").exists()


def test_a_list_is_never_written_over_another_file_and_an_invalid_one_is_refused(owing, tmp_path):
    path = tmp_path / "owed.csv"
    with pytest.raises(CommandError, match="Cannot read"):
        call_command("pay", "mark", "round-1", "--csv", str(path))
    path.write_bytes(b"worker,amount,payments\n\xe9,1,2\n")
    with pytest.raises(CommandError, match="UTF-8"):
        call_command("pay", "mark", "round-1", "--csv", str(path))
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("pay", "list", "round-1", "--csv", str(path))
    assert path.read_bytes().startswith(b"worker")


def test_simulated_workers_are_not_on_it(owing, ann, bob):
    mark_simulated(ann)
    assert [wage.worker for wage in wages_of(owing)] == [bob]
