"""The demo uses an empty database or its own, as it adds a superuser whose password it prints; a log gets its steps."""

import os
import shutil
import signal
import socket
from io import StringIO
from pathlib import Path
from time import monotonic, sleep

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper

from core.errors import CounterpartError
from corpus.models import Collection
from demo import local_site
from demo.local_site import free_port
from demo.management.commands.demo import Stages
from demo.walkthrough import COLLECTION, JUDGED, LOGIN, refuse_other_databases
from tests.factories import make_collection, make_round
from tests.ports import answers, reserved_port, running
from tests.project.names import ROOT


def test_the_demo_gives_no_superuser_to_a_site_with_accounts(db):
    User.objects.create_user(username="robin")
    with pytest.raises(CommandError, match="other accounts 1"):
        call_command("demo", "--no-serve")
    assert not Collection.objects.exists()
    assert not User.objects.filter(username=LOGIN).exists()


def test_a_log_gets_a_line_for_each_stage_with_its_seconds():
    out = StringIO()
    stage = Stages(OutputWrapper(out), bar=False)
    for what in ("Draw pictures", "Train"):
        with stage(what):
            pass
    assert out.getvalue() == "1 of 7  Draw pictures … 0 s\n2 of 7  Train … 0 s\n"


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


# One command serves the site and its worker, and leaves nothing behind


SERVE = "import django; django.setup(); from demo.local_site import serve; serve({port}, 'http://127.0.0.1:{port}')"


def test_a_taken_port_is_passed_over_and_an_error_names_the_tried_ones(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(local_site, "FIRST_PORT", taken.getsockname()[1])
        assert free_port() > local_site.FIRST_PORT
        monkeypatch.setattr(local_site, "PORTS_TRIED", 1)
        with pytest.raises(CounterpartError, match=str(local_site.FIRST_PORT)):
            free_port()


def await_true(condition, seconds: float = 90) -> bool:
    started = monotonic()
    while monotonic() - started < seconds:
        if condition():
            return True
        sleep(0.2)
    return False


def processes_of(folder: Path) -> list[str]:
    """The command lines of running processes that name the folder."""
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if str(folder) in line]


@pytest.mark.slow
def test_site_and_worker_come_and_go_together(db, migrated, tmp_path):
    shutil.copy(migrated, tmp_path / "counterpart.sqlite3")
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    with (
        reserved_port() as port,
        running(["-c", SERVE.format(port=port)], port, env=environment, cwd=ROOT) as process,
    ):
        assert await_true(lambda: processes_of(tmp_path))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
        assert await_true(lambda: not processes_of(tmp_path))
        assert not answers(port)
