"""Invitations: each lets one person join a round, once."""

import json
from functools import partial

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from annotation.judging import links
from annotation.models import Admission, Invitation, Participant, Worker
from annotation.people.admission import make_invitations, revoke_invitations
from core.errors import CounterpartError
from core.models import Event
from hits.models import Round
from tests.annotation.answering import agreement, consent, join_page
from tests.at_once import at_once
from tests.factories import make_round


@pytest.fixture
def by_invitation(db) -> Round:
    return invited_round()


def invited_round() -> Round:
    made = make_round(hits=3)
    Admission.objects.create(round=made, invited=True)
    made.refresh_from_db()
    return made


def invite(made: Round) -> str:
    """The path of a new invitation's link."""
    (invitation,) = make_invitations(made, 1, by="robin")
    return links.invitation_link(invitation).removeprefix("http://127.0.0.1:8000")


def agree(client: Client, link: str, form: str = ""):
    return client.post(link, agreement(form))


def test_an_invitation_lets_one_person_join_and_come_back_and_no_other(stranger, by_invitation):
    link = invite(by_invitation)
    assert "Agree and join" in stranger.get(link).text
    assert agree(stranger, link).url.startswith("/judge/me/")
    invitation = Invitation.objects.get()
    assert (invitation.state, invitation.used_by) == ("used", Participant.objects.get().worker)
    other = Client()
    for answer in (other.get(link), agree(other, link)):
        assert (answer.status_code, "This invitation has been used" in answer.text) == (410, True)
    for way in (link, join_page(by_invitation)):
        assert "Continue as" in stranger.get(way).text
        assert stranger.post(way, {"again": "yes"}).url.startswith("/judge/me/")
    assert Worker.objects.count() == Participant.objects.count() == 1


def test_the_join_link_of_such_a_round_lets_no_one_in_and_says_why(stranger, by_invitation):
    for answer in (stranger.get(join_page(by_invitation)), consent(stranger, by_invitation)):
        assert (answer.status_code, "This round is by invitation" in answer.text) == (403, True)
    assert not Worker.objects.exists()


def test_a_round_for_all_takes_invited_workers_too(stranger, by_invitation):
    Admission.objects.all().delete()
    assert agree(Client(), invite(by_invitation)).status_code == consent(stranger, by_invitation).status_code == 302


def test_the_invited_are_not_limited_by_address(by_invitation, settings):
    settings.JOINS_PER_HOUR = 1
    clients = [Client(REMOTE_ADDR="203.0.113.7") for _ in range(3)]
    assert [agree(client, invite(by_invitation)).status_code for client in clients] == [302] * 3


def test_a_full_round_uses_up_no_invitation(stranger, by_invitation):
    Admission.objects.update(capacity=1)
    agree(Client(), invite(by_invitation))
    assert agree(stranger, invite(by_invitation)).status_code == 410
    assert [one.state for one in Invitation.objects.all()] == ["used", "unused"]


@pytest.mark.parametrize("path", ["x", "MQ:1x:forged"])
def test_a_forged_invitation_opens_nothing(stranger, by_invitation, path):
    assert stranger.get(f"/judge/invited/{path}/").status_code == 404


def test_a_revoked_invitation_opens_nothing(stranger, by_invitation):
    link = invite(by_invitation)
    assert revoke_invitations(by_invitation, [Invitation.objects.get().pk], by="robin") == 1
    for answer in (stranger.get(link), agree(stranger, link)):
        assert (answer.status_code, "This invitation was withdrawn" in answer.text) == (410, True)
    assert Event.objects.get(verb="revoked invitations").actor == "robin"


def test_a_used_invitation_or_an_unknown_number_is_not_revoked(stranger, by_invitation):
    agree(stranger, invite(by_invitation))
    used, other = Invitation.objects.get().pk, make_invitations(by_invitation, 1, by="robin")[0].pk
    with pytest.raises(CounterpartError, match="were used already"):
        revoke_invitations(by_invitation, [used, other], by="robin")
    with pytest.raises(CounterpartError, match="no invitation 99999"):
        revoke_invitations(by_invitation, [other, 99999], by="robin")
    assert Invitation.objects.get(pk=other).state == "unused"


@pytest.mark.parametrize("count", [0, -1, 1001])
def test_a_number_out_of_range_makes_none(by_invitation, count):
    with pytest.raises(CounterpartError, match="use 1 to 1,000"):
        make_invitations(by_invitation, count, by="robin")


def test_the_command_makes_lists_and_revokes(stranger, by_invitation, capsys):
    def run(*options: str) -> dict:
        call_command("invite", by_invitation.name, *options, "--json")
        return json.loads(capsys.readouterr().out)

    first, second = run("--count", "2")["made"]
    agree(stranger, first["link"].removeprefix("http://127.0.0.1:8000"))
    assert run("--revoke", str(second["number"])) == {"revoked": 1}
    worker = Worker.objects.get().pseudonym
    assert run("--list")["invitations"] == [
        {"number": first["number"], "state": "used", "worker": worker},
        {"number": second["number"], "state": "revoked"},
    ]


@pytest.mark.service
def test_two_people_who_use_an_invitation_at_once_become_one_worker(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    made = invited_round()
    for _ in range(4):
        link = invite(made)
        statuses = [answer.status_code for answer in at_once(*[partial(agree, Client(), link)] * 4)]
        assert sorted(statuses) == [302, 410, 410, 410]
    assert Worker.objects.count() == Participant.objects.count() == 4
