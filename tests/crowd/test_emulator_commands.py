"""The commands are thin wrappers; what they start is tested in packages/emulators/tests."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class

from counterpart_emulators import command
from counterpart_emulators.mturk.__main__ import PROGRAM as MTURK
from counterpart_emulators.prolific.__main__ import PROGRAM as PROLIFIC


@pytest.mark.parametrize(
    ("name", "address"),
    [("mturk", "Requester API:       http"), ("prolific", "API:                 http")],
)
def test_it_starts_the_emulator_and_says_how_to_reach_it(monkeypatch, name, address):
    out, seen = StringIO(), []
    monkeypatch.setattr(command, "until_stopped", lambda: seen.append(out.getvalue()))
    call_command("emulate", name, "--port", "0", "--seed", "5", stdout=out)
    assert f"{address}://127.0.0.1:" in seen[0]
    assert out.getvalue().endswith("The emulator has stopped. Nothing was kept, as no --journal was given.\n")


@pytest.mark.parametrize(("name", "program"), [("mturk", MTURK), ("prolific", PROLIFIC)])
def test_it_takes_the_options_of_the_module(name, program):
    def options(of):
        return {option for action in of._actions for option in action.option_strings}

    own = load_command_class("crowd", "emulate").acts[name]().create_parser("manage.py", name)
    assert options(program.parser()) <= options(own)


def test_what_cannot_start_is_one_clear_line(tmp_path):
    with pytest.raises(CommandError, match="--journal"):
        call_command("emulate", "mturk", "--port", "0", "--journal", tmp_path)
