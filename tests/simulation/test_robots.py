"""Robots and honest workers of drawn rounds: what controls and signals flag."""

import numpy as np
import pytest

from tests.simulation.robots import HONEST, ROBOTS, play_round

ROUNDS = 12


@pytest.fixture(scope="module")
def played() -> dict[str, np.ndarray]:
    """Name → whether each HIT is flagged, by its controls and by signals: (rounds, 2, HITs)."""
    flags: dict[str, list] = {}
    for seed in range(ROUNDS):
        for name, controls, found in play_round(seed):
            flags.setdefault(name, []).append([controls, [bool(one) for one in found]])
    return {name: np.array(rows) for name, rows in flags.items()}


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_robot_is_flagged_within_two_hits(played, robot):
    assert played[robot].any(axis=(1, 2)).sum() >= ROUNDS - 1


def test_signals_seldom_flag_who_looks(played):
    """5 of 120 HITs are more than twice the promised 2%: at that rate, seen in one draw of ten."""
    assert sum(played[name][:, 1].sum() for name in HONEST) <= 5
