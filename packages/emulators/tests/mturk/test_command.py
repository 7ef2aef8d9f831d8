"""``python -m counterpart_emulators.mturk``: its options, what it prints, and its one-line errors."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

import counterpart_emulators
from counterpart_emulators import command
from counterpart_emulators.mturk.__main__ import PROGRAM
from tests.mturk.conftest import SESSION


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command until what a test does in the meantime is done; returns what was printed."""

    def ran(*options, meanwhile=lambda printed: None):
        seen = []

        def stopped():
            seen.append(capsys.readouterr().out)
            meanwhile(seen[0])

        monkeypatch.setattr(command, "until_stopped", stopped)
        PROGRAM.main(["--port", "0", *map(str, options)])
        return seen[0] + capsys.readouterr().out

    return ran


@pytest.fixture
def fails(capsys):
    """Run the command, which has to fail; returns its last line of errors."""

    def failed(*options):
        with pytest.raises(SystemExit) as error:
            PROGRAM.main([*map(str, options)])
        printed = capsys.readouterr().err
        return printed.strip().splitlines()[-1] if printed else str(error.value.code)

    return failed


def line_of(printed, name):
    (line,) = [line for line in printed.splitlines() if line.startswith(f"{name}:")]
    return line.split()[len(name.split())]


def client_of(printed):
    return SESSION.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=line_of(printed, "Requester API"),
        aws_access_key_id=line_of(printed, "Access key"),
        aws_secret_access_key=line_of(printed, "Secret key"),
    )


def test_what_it_prints_is_enough_to_call_it(run):
    seen = []
    run("--balance", "12.50", meanwhile=lambda printed: seen.append(client_of(printed).get_account_balance()))
    assert seen[0]["AvailableBalance"] == "12.50"


def test_a_journal_begins_where_it_ended_with_its_own_seed(run, tmp_path):
    path, wanted = tmp_path / "journal.jsonl", {"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}
    first = run("--journal", path, meanwhile=lambda printed: client_of(printed).create_qualification_type(**wanted))
    found = []
    again = run(
        "--journal",
        path,
        meanwhile=lambda printed: found.extend(
            client_of(printed).list_qualification_types(MustBeRequestable=True)["QualificationTypes"]
        ),
    )
    assert (line_of(first, "Seed"), [one["Name"] for one in found]) == (line_of(again, "Seed"), ["n"])


def test_the_default_seed_is_random(run):
    assert line_of(run(), "Seed") != line_of(run(), "Seed")
    assert line_of(run("--seed", "12"), "Seed") == "12"


@pytest.mark.parametrize("balance", ["-1", "1.005", "NaN"])
def test_an_invalid_balance_is_one_clear_line(fails, balance):
    assert f"--balance: '{balance}'" in fails(f"--balance={balance}")


def test_a_taken_port_is_one_clear_line(fails, emulator):
    error = fails("--port", emulator.port)
    assert error.startswith(f"Error: Cannot serve on 127.0.0.1:{emulator.port} (Address already in use).")


def test_an_invalid_host_is_one_clear_line(fails):
    error = fails("--port", "0", "--host", "999.1.1.1")
    assert error.startswith("Error: Cannot serve on 999.1.1.1:0 (")
    assert "Unknown error" not in error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_end_the_wait(monkeypatch, number):
    class Interrupted(Event):
        def wait(self, timeout: float | None = None) -> bool:
            signal.raise_signal(number)
            assert super().wait(10)
            return True

    usual = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        monkeypatch.setattr(command, "threading", SimpleNamespace(Event=Interrupted))
        command.until_stopped()
    finally:
        signal.signal(signal.SIGINT, usual[0])
        signal.signal(signal.SIGTERM, usual[1])


@pytest.mark.slow
def test_it_runs_without_django_until_it_is_interrupted():
    blocked = "import sys, runpy; sys.modules['django'] = None; sys.argv[1:] = ['--port', '0']; "
    program = blocked + "runpy.run_module('counterpart_emulators.mturk', run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": str(Path(counterpart_emulators.__file__).parent.parent)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, text=True) as run:
        printed = []
        while not printed or "Ctrl-C" not in printed[-1]:
            printed.append(run.stdout.readline())
            assert printed[-1], "it ended by itself"
        assert client_of("".join(printed)).list_hits()["HITs"] == []
        run.send_signal(signal.SIGINT)
        assert "The emulator has stopped." in run.stdout.read()
    assert run.returncode == 0
