"""What every command does with errors that are not its own, and with its options."""

import os
import signal
import subprocess
import sys
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import InterfaceError, OperationalError, ProgrammingError

import manage
from core.command_groups import OLD_NAMES
from core.command_help import COLUMNS, STEPS, Manage
from core.commands import ActCommand
from tests.project.names import COMMANDS

BUSY = "The database is busy ({}). Another program is writing, or holds its connections: run"
FULL = "The disk of the database is full ({}). Free some space, then run"
NEW = "The database does not have what this program needs ({}). Run migrate first, then"
AWAY = "The database cannot be reached ({}). Check DATABASE_URL and that its server runs, then run"
READ_ONLY = "The database is read-only ({}). Copy it to storage that can be written, then run"
OTHER = "The database refused ({}). Correct that, then run"


@pytest.fixture
def close_fails_with(db, monkeypatch):
    """Let the command ``close`` meet an error; return what the command reports."""

    def report(error: Exception) -> str:
        def fail(rows: object, name: str) -> None:
            raise error

        monkeypatch.setattr("core.models.NamedQuerySet.named", fail)
        with pytest.raises(CommandError) as refused:
            call_command("close", "round-1", skip_checks=True)
        return str(refused.value)

    return report


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OperationalError("database is locked"), BUSY),
        (OperationalError("canceling statement due to lock timeout"), BUSY),
        (OperationalError("deadlock detected"), BUSY),
        (OperationalError('connection to server at "::1" failed: FATAL:  sorry, too many clients already'), BUSY),
        (OperationalError("database or disk is full"), FULL),
        (OperationalError('could not extend file "base/1": No space left on device'), FULL),
        (OperationalError("no such table: hits_round"), NEW),
        (OperationalError("no such column: hits_round.name"), NEW),
        (ProgrammingError('relation "hits_round" does not exist\nLINE 1'), NEW),
        (OperationalError("unable to open database file"), AWAY),
        (OperationalError('connection to server at "::1", port 5432 failed: Connection refused'), AWAY),
        (OperationalError('connection to server at "::1" failed: FATAL:  database "x" does not exist'), AWAY),
        (InterfaceError("connection already closed"), AWAY),
        (OperationalError("attempt to write a readonly database"), READ_ONLY),
        (OperationalError("out of memory"), OTHER),
    ],
)
def test_each_error_of_the_database_has_a_sentence_of_its_own(close_fails_with, error, sentence):
    line = f"{sentence} the command again. --traceback shows the details."
    assert close_fails_with(error) == line.format(" ".join(str(error).split()))


@pytest.mark.parametrize(
    ("error", "begin"),
    [
        (OSError(28, "No space left on device", "/var/x"), "No space left on device: /var/x. Free some space"),
        (OSError(2, "No such file", "/proc/x"), "No such file: /proc/x. Check that the path exists"),
        (OSError(111, "Connection refused"), "Connection refused. Correct that"),
        (MemoryError("Unable to allocate 119. GiB"), "There is not enough memory (Unable to allocate 119. GiB)."),
    ],
)
def test_each_error_of_the_system_is_reported_in_one_line_with_a_remedy(close_fails_with, error, begin):
    line = close_fails_with(error)
    assert line.startswith(begin)
    assert "\n" not in line


def test_ctrl_c_ends_in_one_line(monkeypatch, capsys):
    def interrupt(arguments: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("core.command_help.Manage.execute", interrupt)
    with pytest.raises(SystemExit) as ended:
        manage.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Stopped. Run the same command to go on.\n")


def test_kill_ends_a_command_by_an_exception_so_that_it_can_clean_up():
    with pytest.raises(SystemExit) as ended:
        manage.terminate(signal.SIGTERM, None)
    assert ended.value.code == 143


def test_a_folder_that_cannot_be_made_is_reported_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    run = subprocess.run(
        [sys.executable, "manage.py", "close", "round-1"],
        cwd=Path(manage.__file__).parent,
        env={**os.environ, "VAR_DIR": str(tmp_path / "file")},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert (run.stderr.startswith(f"File exists: {tmp_path}/file."), run.stderr.count("\n")) == (True, 1)


def typed(name: str, *options: str) -> None:
    load_command_class("crowd", name).run_from_argv(["manage.py", name, *options])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "the following arguments are required: round"),
        (["round-1", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_options_are_reported_in_one_line(capsys, options, reason):
    with pytest.raises(SystemExit) as ended:
        typed("close", *options)
    line = f"CommandError: {reason}. manage.py close --help lists the options.\n"
    assert (ended.value.code, *capsys.readouterr()) == (2, "", line)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option_that_a_command_adds(name):
    command = load_command_class(get_commands()[name], name)
    own = ArgumentParser()
    command.add_arguments(own)
    shown = command.create_parser("manage.py", name).format_help().split()
    added = [option for action in own._actions for option in action.option_strings if action.help != SUPPRESS]
    assert [option for option in added if not {option, f"{option},"}.intersection(shown)] == []


def test_help_lists_our_commands_by_step_a_line_each_and_djangos_only_with_all():
    text = Manage(["manage.py", "help"]).main_help_text()
    lines = text.splitlines()
    assert [line.lower() for line in lines if line.title() == line and line] == list(STEPS)
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted({*COMMANDS, "demo", "migrate"})
    assert max(map(len, lines)) <= COLUMNS
    every = Manage(["manage.py", "help", "--all"]).main_help_text()
    assert ("makemigrations" in text, "makemigrations" in every) == (False, True)
    assert set(OLD_NAMES).isdisjoint(Manage(["manage.py"]).main_help_text(commands_only=True).split())


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_name_runs_the_new_command_after_a_line_that_names_it(monkeypatch, capsys, name):
    new, *words = OLD_NAMES[name].split()
    ran: list[list[str]] = []
    monkeypatch.setattr(ActCommand, "run_from_argv", lambda self, argv: ran.append(argv[1:]))
    get_commands()[name].run_from_argv(["manage.py", name, "--option"])
    assert " ".join(ran[0]) == f"{OLD_NAMES[name]} --option"
    assert capsys.readouterr().err == f"{name} is now {OLD_NAMES[name]}; the old name goes with the next version.\n"
    assert (new in COMMANDS, name in COMMANDS) == (True, False)


def test_an_old_name_answers_a_call_from_python(monkeypatch, capsys):
    ran: list[dict[str, object]] = []
    monkeypatch.setattr(ActCommand, "execute", lambda self, *args, **options: ran.append(options))
    call_command("bonus", "5", amount="1", reason="Thank you.", by="kim")
    assert ran[0].items() >= {"assignment": "5", "amount": "1", "reason": "Thank you.", "by": "kim"}.items()
    assert "bonus is now pay bonus" in capsys.readouterr().err


def test_options_of_django_are_accepted(db, monkeypatch, capsys):
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    with pytest.raises(SystemExit) as ended:
        typed("close", "round-1", "--no-color", "--skip-checks", "--verbosity", "0")
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("CommandError: Unknown round 'round-1'")
