"""The bar that a terminal shows while a command works."""

import re

import pytest
from tqdm import tqdm

from core.progress import TerminalBar


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Pretend that standard error is a terminal; what the bar wrote there."""
    monkeypatch.setattr("core.progress.tqdm", lambda **options: tqdm(**options | {"disable": False, "mininterval": 0}))
    return lambda: capsys.readouterr().err


def test_every_step_begins_a_bar_of_its_own(terminal):
    bar = TerminalBar()
    bar("reading", 3, 4)
    bar("packing", 1, 2)
    bar.close()
    shown = re.findall(r"(\w+): .*? (\d+/\d+) ", terminal())
    assert ("reading", "3/4") in shown
    assert shown[-1] == ("packing", "1/2")
