"""The page API: tokens are made there, shown once, and revoked by their owner or an admin."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from console.api.access_tokens import make_token
from console.api.scopes import SCOPES
from core.models import Event
from integrations.models import Token

pytestmark = pytest.mark.django_db


def make(client: Client, **fields: object):
    return client.post("/tokens/", {"name": "notebook", "scopes": ["jobs:read"], "days": 30, **fields})


def text_in(answer) -> str:
    return re.search(r"cp_[0-9A-Za-z]{57}\b", answer.text)[0]


def offered(client: Client) -> set[str]:
    return set(re.findall(r'name="scopes" value="([\w:]+)"', client.get("/tokens/").text))


@pytest.fixture
def others(person) -> Token:
    """A token of another person."""
    return make_token(person, "theirs", ["jobs:read"])[0]


def test_a_token_that_was_made_calls_the_api(member):
    answer = make(member, networks="127.0.0.0/8, 192.0.2.7")
    shown = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {text_in(answer)}"}).json()
    assert (shown["user"], shown["token"], shown["scopes"]) == ("member", "notebook", ["jobs:read"])
    token = Token.objects.get()
    assert token.networks == ["127.0.0.0/8", "192.0.2.7/32"]
    assert token.expires_at - timezone.now() > timedelta(days=29)


def test_the_text_is_shown_once_and_kept_by_no_cache(member):
    answer = make(member)
    assert answer["Cache-Control"] == "private, no-store"
    text = text_in(answer)
    listed = member.get("/tokens/").text
    assert text not in listed
    assert text[:11] in listed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scopes": ["rounds:spend"]}, "rounds:spend is not one of the available choices"),
        ({"name": "\t"}, "This field is required"),
        ({"name": "a\x01b"}, "control character"),
    ],
)
def test_a_wish_that_is_not_valid_is_refused_at_its_form(member, fields, message):
    answer = make(member, **fields)
    assert answer.status_code == 422
    assert message in answer.text
    assert not Token.objects.exists()


def test_scopes_are_offered_as_far_as_the_role_allows(member, researcher, reviewer, releaser):
    reading = {name for name in SCOPES if name.endswith(":read")} - {"webhooks:read"}
    of_stewards = reading | {"webhooks:read", "webhooks:write"}
    writing = {name for name in SCOPES if name.endswith((":write", ":spend"))}
    assert offered(member) == reading
    assert offered(reviewer) == of_stewards | {"dataset:review"}
    assert offered(researcher) == of_stewards | writing
    assert offered(releaser) == set(SCOPES)


def test_a_revoked_token_is_refused(member):
    text = text_in(make(member))
    address = f"/tokens/{Token.objects.get().pk}/revoke/"
    assert member.post(address).url == "/tokens/"
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {text}"}).status_code == 401
    member.post(address)
    assert Event.objects.filter(verb="token revoked").count() == 1


@pytest.mark.parametrize("role", ["member", "researcher", "reviewer"])
def test_only_admins_see_or_revoke_a_token_of_another_person(request, role, others):
    client = request.getfixturevalue(role)
    assert "theirs" not in client.get("/tokens/?of=everybody").text
    address = f"/tokens/{others.pk}/revoke/"
    assert client.post(address).status_code == 404
    assert Token.objects.get().state == "valid"


def test_an_admin_sees_and_revokes_everybodys(releaser, others, person):
    assert "theirs" not in releaser.get("/tokens/").text
    assert "theirs" in releaser.get("/tokens/?of=everybody").text
    assert "theirs" in releaser.get(f"/staff/{person.pk}/").text
    assert releaser.post(f"/tokens/{others.pk}/revoke/").url == f"/staff/{person.pk}/"
    assert Token.objects.get().state == "revoked"
    assert Event.objects.get(verb="token revoked").actor == "admin"


def test_names_are_escaped(releaser):
    make(releaser, name="<script>x</script>")
    for path in ("/tokens/", "/tokens/?of=everybody", "/activity/"):
        text = releaser.get(path).text
        assert "<script>x" not in text
        assert "&lt;script&gt;x" in text


def test_the_list_asks_no_more_for_more_tokens(releaser, django_assert_max_num_queries):
    for number in range(9):
        owner = User.objects.create(username=f"robin-{number}")
        owner.groups.add(Group.objects.get(name="researcher"))
        make_token(owner, "ci", ["data:write"])
    releaser.get("/tokens/?of=everybody")
    with django_assert_max_num_queries(9):
        assert "robin-8" in releaser.get("/tokens/?of=everybody").text
