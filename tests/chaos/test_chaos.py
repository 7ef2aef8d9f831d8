"""A site that is killed at random moments loses, alters and doubles nothing: the short run. ``make chaos`` does 200."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from tests.chaos.cuts import SERVICES, WEIGHTS, schedule

KILLS = os.environ.get("CHAOS_KILLS", "2")
SEED = "73"  # a worker and, on SQLite, a web process; on PostgreSQL the connections of the database


@pytest.mark.slow
@pytest.mark.service
def test_a_site_that_is_killed_under_load_loses_alters_and_doubles_nothing(migrated, tmp_path):
    options = ["--kills", KILLS, "--seed", SEED, "--keep", str(tmp_path)]
    if connection.vendor == "sqlite" and migrated.exists():
        options += ["--migrated", str(migrated)]
    command = [sys.executable, "-m", "tests.chaos", connection.vendor, *options]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]


def test_one_seed_draws_one_schedule():
    assert schedule(kills=50, seed=3) == schedule(kills=50, seed=3)
    assert schedule(kills=50, seed=3) != schedule(kills=50, seed=4)


@pytest.mark.parametrize("without", [(), SERVICES])  # files have no connections to cut
def test_two_hundred_kills_are_of_every_kind_that_is_possible(without):
    assert {cut.kind for cut in schedule(kills=200, seed=1, without=without)} == {*WEIGHTS} - {*without}
