import signal
from io import StringIO
from threading import Timer, main_thread

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from crowd.management.commands import mturk_emulator
from tests.emulators.mturk.conftest import SESSION


@pytest.fixture
def run(monkeypatch):
    """Run the command until what a test does while it is up is done; returns what was printed."""

    def ran(*options, meanwhile=lambda printed: None):
        out = StringIO()
        monkeypatch.setattr(mturk_emulator, "until_stopped", lambda: meanwhile(out.getvalue()))
        call_command("mturk_emulator", "--port", "0", *options, stdout=out)
        return out.getvalue()

    return ran


def told(printed, name):
    (line,) = [line for line in printed.splitlines() if line.startswith(f"{name}:")]
    return line.split()[len(name.split())]


def client_of(printed):
    return SESSION.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=told(printed, "Requester API"),
        aws_access_key_id=told(printed, "Access key"),
        aws_secret_access_key=told(printed, "Secret key"),
    )


def test_what_it_prints_is_enough_to_call_it(run):
    seen = []
    run("--balance", "12.50", meanwhile=lambda printed: seen.append(client_of(printed).get_account_balance()))
    assert seen[0]["AvailableBalance"] == "12.50"


def test_it_says_that_nothing_is_real_and_that_nothing_is_kept(run):
    printed = run()
    assert "no worker is real and no money moves" in printed
    assert printed.endswith("The emulator has stopped. Nothing of it is kept.\n")


def test_two_rehearsals_have_different_seeds_unless_told(run):
    assert told(run(), "Seed") != told(run(), "Seed")
    assert told(run("--seed", "12"), "Seed") == "12"


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
    assert (told(first, "Seed"), [type["Name"] for type in found]) == (told(again, "Seed"), ["n"])


def test_the_sandbox_can_be_asked_for(run):
    seen = []
    run("--sandbox", "--balance", "1", meanwhile=lambda printed: seen.append(client_of(printed).get_account_balance()))
    assert seen[0]["AvailableBalance"] == "10000.00"


@pytest.mark.parametrize("balance", ["much", "-1", "1.005", "NaN"])
def test_a_balance_that_is_no_amount_is_one_clear_line(run, balance):
    with pytest.raises(CommandError, match="is no amount in dollars and cents"):
        run(f"--balance={balance}")


def test_the_journal_of_another_world_is_one_clear_line(run, tmp_path):
    run("--journal", tmp_path / "j", "--seed", "1")
    with pytest.raises(CommandError, match="another world"):
        run("--journal", tmp_path / "j", "--seed", "2")


def test_a_taken_port_is_one_clear_line(run, emulator):
    with pytest.raises(
        CommandError, match=rf"127.0.0.1:{emulator.port} \(Address already in use\); stop what is there"
    ):
        run("--port", str(emulator.port))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_end_the_wait(number):
    usual = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        Timer(0.05, signal.pthread_kill, [main_thread().ident, number]).start()
        mturk_emulator.until_stopped()
    finally:
        signal.signal(signal.SIGINT, usual[0])
        signal.signal(signal.SIGTERM, usual[1])


@pytest.mark.parametrize("port", ["65536", "-1", "x", "9" * 5000])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(CommandError, match="is no port; give a number up to 65535"):
        call_command("mturk_emulator", "--port", port)


def test_a_journal_that_cannot_be_kept_is_named(tmp_path):
    with pytest.raises(CommandError, match=f"{tmp_path} cannot be used .*; name another --journal"):
        call_command("mturk_emulator", "--port", "0", "--journal", tmp_path)


def test_a_host_that_is_none_is_told_as_such():
    with pytest.raises(CommandError, match=r"on 999\.1\.1\.1:0 \((?!Unknown error)"):
        call_command("mturk_emulator", "--port", "0", "--host", "999.1.1.1")
