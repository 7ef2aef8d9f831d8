import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def no_calls_before():
    """Calls and wrong tokens are counted by address, which all tests share."""
    cache.clear()
