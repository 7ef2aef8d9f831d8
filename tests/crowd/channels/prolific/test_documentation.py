"""What docs/prolific.md says in figures and lists is so."""

import re
from decimal import ROUND_HALF_UP, Decimal

import pytest

from tests.project.names import APPS, ROOT

PAGE = (ROOT / "docs/prolific.md").read_text()
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
    listed = {row[1].strip(): Decimal(re.search(r"\$([\d.]+)", row[1 + column])[1]) for row in cells}
    rewards = 20 * Decimal("2.00")
    fees, tax = rewards * share, rewards * share * Decimal("0.20")
    worked_out = {"20 rewards": rewards, "fees": fees, "tax on the fees, if 20%": tax, "together": rewards + fees + tax}
    assert listed == {name: amount.quantize(Decimal("0.01"), ROUND_HALF_UP) for name, amount in worked_out.items()}
