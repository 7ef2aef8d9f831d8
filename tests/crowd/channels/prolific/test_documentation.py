"""What docs/prolific.md says in figures and lists is so."""

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from counterpart_emulators.prolific.wallet import FEE, VAT
from crowd.channels.prolific.money import LEAST_HOURLY
from hits.models import Round
from simulation.profiles import load_profile
from tests.factories import make_round

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/prolific.md").read_text()
WORDS = " ".join(PAGE.split())

APPS = (
    "core",
    "integrations",
    "corpus",
    "mitl",
    "hits",
    "annotation",
    "crowd",
    "dataset",
    "evaluation",
    "simulation",
    "console",
)
OWN = ("commands/prolific_emulator.py", "commands/subscribe_hooks.py", "doors/prolific.py")


def test_outside_its_folders_prolific_is_named_in_three_lines_and_three_files_of_its_own():
    files = [path.relative_to(ROOT) for app in APPS for path in (ROOT / app).rglob("*.py")]
    outside = [path.as_posix() for path in files if "channels/prolific" not in path.as_posix()]
    lines = {path: (ROOT / path).read_text().lower().splitlines() for path in outside}
    named = {path: count for path in outside if (count := sum("prolific" in line for line in lines[path]))}
    own = {path for path in named if path.endswith(OWN)}
    assert len(own) == len(OWN)
    others = {path: count for path, count in named.items() if path not in own}
    assert others == {"core/extensions.py": 1, "simulation/doors/platform_door.py": 2}


@pytest.mark.parametrize(("column", "share"), [(1, Decimal("0.333")), (2, Decimal("0.428"))])
def test_the_costs_of_a_pilot_are_worked_out_right(column, share):
    cells = [line.split("|") for line in PAGE.splitlines() if line.startswith("|") and "$" in line]
    told = {row[1].strip(): Decimal(re.search(r"\$([\d.]+)", row[1 + column])[1]) for row in cells}
    rewards = 20 * Decimal("2.00")
    fees, tax = rewards * share, rewards * share * Decimal("0.20")
    worked_out = {"20 rewards": rewards, "fees": fees, "tax on the fees, if 20%": tax, "together": rewards + fees + tax}
    assert told == {name: amount.quantize(Decimal("0.01"), ROUND_HALF_UP) for name, amount in worked_out.items()}


def test_the_pilot_can_be_published_and_costs_what_the_page_says(rehearsal, capsys):
    pilot = make_round(hits=20, published=False, reward="2.00")
    call_command("publish", pilot.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    assert "20 seats cost at most $56.00 of its ceiling" in capsys.readouterr().out
    assert "asks $56.00 for the first column" in WORDS


def test_the_wages_of_the_page_are_those_that_are_asked_for():
    floor = Round._meta.get_field("wage_floor").default
    assert floor == Decimal("2.00") * 60 / 8
    assert f"at least ${LEAST_HOURLY} an hour of these minutes" in WORDS
    assert f"the round's own wage floor (${floor})" in WORDS


def test_the_emulators_fees_are_those_of_the_page():
    assert f"{FEE:.1%} of rewards and bonuses, VAT of {VAT:.0%} on the fee" in WORDS


def test_the_shares_of_the_simulated_participants_are_those_of_the_page():
    crowd = load_profile("participants")
    for text in (
        f"{crowd.careless_workers:.0%} of the workers click at random",
        f"{crowd.misreading_workers:.0%} read the scale upside down",
        f"{crowd.returns:.0%} are returned, {crowd.abandons:.0%} left to run out of time",
        f"{crowd.double_clicks:.0%} submitted twice at once, {crowd.stale_tabs:.0%} again from a second tab",
        f"{crowd.lost_codes:.0%} end without the code, {crowd.second_devices:.0%} on a second device",
    ):
        assert text in WORDS
