"""The small site once for each module, and programs that call the API."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from tests.console.api.calls import Caller, caller_for
from tests.console.conftest import Site


@pytest.fixture(autouse=True)
def no_calls_before():
    """Calls and wrong tokens are counted by address, which all tests share."""
    cache.clear()


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def caller(researcher) -> Caller:
    """A program of a researcher."""
    return caller_for(User.objects.get(username="researcher"))


@pytest.fixture
def reader(person) -> Caller:
    """A program of an account without a role."""
    return caller_for(person)
