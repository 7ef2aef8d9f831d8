"""What every command does with errors that are not its own, and with its options."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import OperationalError, ProgrammingError

import manage


@pytest.mark.parametrize(
    "error", [OperationalError("no such table: hits_round"), ProgrammingError("relation does not exist\nLINE 1")]
)
def test_a_database_that_cannot_be_used_is_told_in_one_line(db, monkeypatch, error):
    def fail(rows: object, name: str) -> None:
        raise error

    monkeypatch.setattr("hits.models.RoundQuerySet.named", fail)
    with pytest.raises(
        CommandError, match=r"^The database could not be used \(.*\)\. If it is new, run migrate"
    ) as told:
        call_command("close", "round-1", skip_checks=True)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device", "/var/x"), r"No space left on device: /var/x\. Free some space, then"),
        (OSError(2, "No such file", "/proc/x"), r"No such file: /proc/x\. Check that the path exists and that you may"),
        (OSError(111, "Connection refused"), r"Connection refused\. Correct that, then"),
    ],
)
def test_what_the_system_refuses_is_told_in_one_line_with_a_remedy(db, monkeypatch, error, told):
    def fail(rows: object, name: str) -> None:
        raise error

    monkeypatch.setattr("hits.models.RoundQuerySet.named", fail)
    with pytest.raises(CommandError, match=f"^{told}") as refused:
        call_command("close", "round-1", skip_checks=True)
    assert "\n" not in str(refused.value)


def test_ctrl_c_is_told_in_one_line(monkeypatch, capsys):
    def interrupt(arguments: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("django.core.management.execute_from_command_line", interrupt)
    with pytest.raises(SystemExit) as ended:
        manage.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Stopped. Run the same command to go on.\n")


def test_a_lack_of_memory_is_told_in_one_line(db, monkeypatch):
    def fail(rows: object, name: str) -> None:
        raise MemoryError("Unable to allocate 119. GiB")

    monkeypatch.setattr("hits.models.RoundQuerySet.named", fail)
    with pytest.raises(CommandError, match=r"^There is not enough memory \(Unable to allocate 119\. GiB\)\. Use a"):
        call_command("close", "round-1", skip_checks=True)


def test_kill_ends_a_command_by_an_exception_so_that_it_can_clean_up():
    with pytest.raises(SystemExit) as ended:
        manage.terminate(signal.SIGTERM, None)
    assert ended.value.code == 143


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    run = subprocess.run(
        [sys.executable, "manage.py", "close", "round-1"],
        cwd=Path(manage.__file__).parent,
        env={**os.environ, "VAR_DIR": str(tmp_path / "file")},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        f"File exists: {tmp_path}/file. Counterpart keeps its files in VAR_DIR: make that folder writable, or set "
        "VAR_DIR to one that is.\n"
    )


def typed(name: str, *options: str) -> None:
    load_command_class("crowd", name).run_from_argv(["manage.py", name, *options])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "the following arguments are required: round"),
        (["round-1", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_options_are_told_in_one_line(capsys, options, told):
    with pytest.raises(SystemExit) as ended:
        typed("close", *options)
    line = f"CommandError: {told}. manage.py close --help lists the options.\n"
    assert (ended.value.code, *capsys.readouterr()) == (2, "", line)


def test_help_shows_a_commands_own_options_and_not_those_of_django(capsys):
    with pytest.raises(SystemExit):
        typed("sync", "--help")
    shown = capsys.readouterr().out
    assert "--json" in shown
    assert not [option for option in ("--verbosity", "--settings", "--traceback", "--skip-checks") if option in shown]


def test_options_of_django_are_accepted(db, monkeypatch, capsys):
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    with pytest.raises(SystemExit) as ended:
        typed("close", "round-1", "--no-color", "--skip-checks", "--verbosity", "0")
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("CommandError: There is no round 'round-1'")
