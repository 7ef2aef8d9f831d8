"""The demo uses an empty database or its own, as it adds a superuser whose password it prints; a log gets its steps."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper

from core.errors import CounterpartError
from corpus.models import Collection
from demo.management.commands.demo import StepLines
from demo.walkthrough import COLLECTION, JUDGED, LOGIN, refuse_other_databases
from tests.factories import make_collection, make_round


def test_the_demo_gives_no_superuser_to_a_site_with_accounts(db):
    User.objects.create_user(username="robin")
    with pytest.raises(CommandError, match="other accounts 1"):
        call_command("demo", "--no-serve")
    assert not Collection.objects.exists()
    assert not User.objects.filter(username=LOGIN).exists()


def test_a_log_gets_a_line_for_each_step():
    out = StringIO()
    steps = StepLines(OutputWrapper(out))
    for step, done in (("drawing", 1), ("drawing", 2), ("training", 1)):
        steps(step, done, None)
    assert out.getvalue() == "drawing …\ntraining …\n"


def test_the_demo_leaves_a_database_of_other_collections_alone(db):
    make_collection("coco")
    with pytest.raises(CounterpartError, match="other collections 1"):
        refuse_other_databases()


def test_the_demo_runs_again_after_an_interruption_or_after_people_used_its_database(db, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("django.db.connection.introspection.table_names", list)
        refuse_other_databases()
    make_round(make_collection(COLLECTION), JUDGED)
    make_collection("mine")
    User.objects.create_user(username="robin")
    refuse_other_databases()
