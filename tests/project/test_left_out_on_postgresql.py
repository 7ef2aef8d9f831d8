"""The tests that PostgreSQL leaves out are named by paths. A path that names nothing would return there silently."""

from pathlib import Path

import pytest

from tests.databases import BOTH, SQLITE_ALONE


@pytest.mark.parametrize("prefix", [*SQLITE_ALONE, *BOTH])
def test_every_path_that_is_left_out_names_tests(settings, prefix):
    place = Path(settings.BASE_DIR) / prefix
    assert list(place.parent.glob(f"{place.name}*")), "rename it in tests/databases.py too"
