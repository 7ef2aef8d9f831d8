"""Nothing computes in a transaction: on SQLite no other process could save an answer meanwhile.

``tests/transactions.py`` refuses it in every test. Here a second connection really asks for the lock, and the source of
every command and job is read for what no test runs.
"""

import json
import sqlite3
from contextlib import closing
from inspect import unwrap

import pytest
from celery import current_app
from django.core.management import get_commands
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from core.progress import silent, tracked
from corpus.imports import import_collection
from dataset.verdicts import aggregate_round
from evaluation.scores.scoring import evaluate_version
from tests import transactions
from tests.annotation.cast import answer
from tests.corpus.files import jsonl, line
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round, make_sample
from tests.project.names import COMMANDS
from tests.project.transaction_blocks import modules, work_in_transactions


@pytest.fixture
def asked(monkeypatch):
    """What was under way each time that another connection has asked for the lock, and got it."""
    if connection.vendor != "sqlite":
        pytest.skip("other databases lock rows")
    moments: list[str] = []

    def ask(what: str) -> None:
        with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise AssertionError(f"No other connection could write during {what}.") from error
        moments.append(what)

    monkeypatch.setattr(transactions, "refuse_work", ask)
    return moments


def evaluate(tmp_path):
    zoo = make_collection(images=3)
    version = release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    rankings = tmp_path / "mine.json"
    rankings.write_text(json.dumps({"i2t": {str(image): [2 * image, 1] for image in range(3)}}))
    return lambda: evaluate_version(version, rankings=[rankings])


def aggregate(tmp_path):
    made = make_round()
    answer(made.hits.get(), 1, 4)
    return lambda: aggregate_round(made)


def import_captions(tmp_path):
    path = jsonl(tmp_path / "captions.jsonl", line(1), line(2))
    return lambda: import_collection("zoo", format="jsonl", path=path)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", [evaluate, aggregate, import_captions], ids=lambda act: act.__name__)
def test_another_process_can_write_at_every_moment_of_long_work(asked, tmp_path, act):
    run = act(tmp_path)
    asked.clear()
    run()
    assert asked


@pytest.mark.django_db
def test_every_test_fails_where_something_is_computed_in_a_transaction():
    with transaction.atomic(), pytest.raises(TransactionManagementError, match="step 'reading'"):
        list(tracked([1], "reading", silent))
    with transaction.atomic():
        list(tracked([1], "writing rows", silent))


def test_no_transaction_of_a_command_or_job_reaches_what_computes():
    work = work_in_transactions()
    assert work == [], "Compute it first; then open the transaction, check what may have changed, and write the rows."


def test_every_command_and_job_is_read():
    commands = {f"{app}.management.commands.{name}" for name, app in get_commands().items() if name in COMMANDS}
    works = [unwrap(task.run) for task in current_app.tasks.values() if hasattr(task.run, "__wrapped__")]
    jobs = {work.__module__ for work in works if not work.__module__.startswith("tests.")}
    assert len(jobs) > 5
    assert (commands | jobs) - modules().keys() == set(), "Put it where tests/project/transaction_blocks.py looks."
