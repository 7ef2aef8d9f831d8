import pytest

from tests.mitl.annotators.vlm.endpoint import serving


@pytest.fixture
def stub():
    """An endpoint on this machine that says level 1 to everything until it is told otherwise."""
    with serving() as stub:
        yield stub
