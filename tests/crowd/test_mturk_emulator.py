"""The command is a thin wrapper; what it starts is tested in tests/emulators."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class

from emulators import command
from emulators.mturk.__main__ import PROGRAM


def test_it_starts_the_emulator_and_says_how_to_reach_it(monkeypatch):
    out, seen = StringIO(), []
    monkeypatch.setattr(command, "until_stopped", lambda: seen.append(out.getvalue()))
    call_command("mturk_emulator", "--port", "0", "--seed", "5", stdout=out)
    assert "Requester API:   http://127.0.0.1:" in seen[0]
    assert out.getvalue().endswith("The emulator has stopped. Nothing was kept, as no --journal was given.\n")


def test_it_takes_the_options_of_the_module():
    def options(of):
        return {option for action in of._actions for option in action.option_strings}

    own = load_command_class("crowd", "mturk_emulator").create_parser("manage.py", "mturk_emulator")
    assert options(PROGRAM.parser()) <= options(own)


def test_what_cannot_start_is_one_clear_line(tmp_path):
    with pytest.raises(CommandError, match="cannot be used .*; use another --journal"):
        call_command("mturk_emulator", "--port", "0", "--journal", tmp_path)
