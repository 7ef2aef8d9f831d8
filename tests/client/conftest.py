"""A live site with a round and a version, and the token of a researcher."""

import pytest
from django.contrib.auth.models import Group

from console.api.access_tokens import make_token
from console.api.scopes import scopes_of


@pytest.fixture
def token(live_server, person) -> str:
    """The token of an admin, who may do everything that a token may."""
    person.groups.set(Group.objects.all())
    return make_token(person, "a notebook", scopes_of(person))[1]
