"""What every command does with errors that are not its own."""

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, ProgrammingError


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
        (OSError(28, "No space left on device", "/var/x"), r"^No space left on device: /var/x\. Correct that"),
        (KeyboardInterrupt(), r"^Stopped\. Run the same command"),
    ],
)
def test_a_full_disk_and_ctrl_c_are_told_in_one_line(db, monkeypatch, error, told):
    def fail(rows: object, name: str) -> None:
        raise error

    monkeypatch.setattr("hits.models.RoundQuerySet.named", fail)
    with pytest.raises(CommandError, match=told) as raised:
        call_command("close", "round-1", skip_checks=True)
    assert "\n" not in str(raised.value)
