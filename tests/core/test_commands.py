"""What every command does with errors that are not its own."""

import pytest
from django.core.management import CommandError, call_command
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


def test_a_full_disk_is_told_in_one_line(db, monkeypatch):
    def fail(rows: object, name: str) -> None:
        raise OSError(28, "No space left on device", "/var/x")

    monkeypatch.setattr("hits.models.RoundQuerySet.named", fail)
    with pytest.raises(CommandError, match=r"^No space left on device: /var/x\. Correct that") as told:
        call_command("close", "round-1", skip_checks=True)
    assert "\n" not in str(told.value)


def test_ctrl_c_is_told_in_one_line(monkeypatch, capsys):
    def interrupt(arguments: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("django.core.management.execute_from_command_line", interrupt)
    with pytest.raises(SystemExit) as ended:
        manage.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Stopped. Run the same command to go on.\n")
