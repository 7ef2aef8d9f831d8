"""People: admins invite, give roles, deactivate and make password links; no one gains more than their role."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client

from console.people.staff import use_link
from console.permissions import admins_only
from core.models import Event

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def invite(client, name="robin", **fields):
    return client.post("/staff/", {"username": name, "roles": ["reviewer"], **fields})


def link_in(answer) -> str:
    return re.search(r"http://127\.0\.0\.1:8000(/password/[^<\"]+)", answer.content.decode())[1]


def set_password(link: str, password: str = PASSWORD):
    visitor = Client()
    form = visitor.post(link)
    if form.status_code != 302:
        return form
    return visitor.post(form.url, {"new_password1": password, "new_password2": password})


@pytest.fixture
def robin(db) -> User:
    return User.objects.create_user("robin", password=PASSWORD)


def test_an_invited_person_sets_a_password_once_and_logs_in_with_the_role(releaser):
    answer = invite(releaser)
    assert answer["Cache-Control"] == "private, no-store"
    link = link_in(answer)
    assert set_password(link).url == "/login/"
    assert "already used" in set_password(link).content.decode()
    visitor = Client()
    visitor.post("/login/", {"username": "robin", "password": PASSWORD})
    assert visitor.get("/inbox/").status_code == 200
    assert visitor.get("/staff/").status_code == 403
    verbs = list(Event.objects.order_by("pk").values_list("verb", "actor"))
    assert verbs == [
        *(("invited", "admin"), ("password link made", "admin")),
        *(("password link used", "robin"), ("password set", "robin")),
    ]


def test_only_the_browser_that_used_a_password_link_sets_the_password(releaser):
    """The link may be in the log of a proxy, and its owner may have left before a password was set."""
    link = link_in(invite(releaser))
    owner, thief = Client(), Client()
    form = owner.post(link).url
    assert "already used" in thief.get(link).content.decode()
    assert thief.post(link).status_code == 200
    chosen = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert "already used" in thief.post(form, chosen).content.decode()
    assert not User.objects.get(username="robin").has_usable_password()
    assert owner.post(form, chosen).url == "/login/"
    assert User.objects.get(username="robin").check_password(PASSWORD)
    assert Event.objects.filter(verb="password link used").count() == 1


def test_a_mail_scanner_that_opens_a_password_link_changes_nothing(releaser, robin):
    link = link_in(releaser.post(f"/staff/{robin.pk}/link/"))
    scanner = Client()
    for opened in (scanner.get(link), scanner.head(link)):
        assert opened.status_code == 200
        assert opened["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    robin.refresh_from_db()
    assert robin.check_password(PASSWORD)
    assert set_password(link, "another long passphrase").url == "/login/"


def test_a_password_link_that_is_used_makes_the_others_of_the_person_void(releaser, robin):
    links = [link_in(releaser.post(f"/staff/{robin.pk}/link/")) for _ in range(2)]
    form = Client().post(links[0])
    assert form.status_code == 302
    assert "already used" in Client().post(links[1]).content.decode()
    robin.refresh_from_db()
    assert not robin.has_usable_password()


def test_of_two_who_use_a_password_link_at_once_one_gets_it(robin):
    first, second = User.objects.get(), User.objects.get()
    assert use_link(first)
    assert use_link(second) == ""
    assert Event.objects.count() == 1


def test_a_weak_password_and_a_forged_link_are_refused(releaser):
    link = link_in(invite(releaser))
    assert "too common" in set_password(link, "password").content.decode()
    assert "already used" in set_password(f"{link[:-4]}abc/").content.decode()
    assert not User.objects.get(username="robin").has_usable_password()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "ADMIN"}, "ADMIN"),
        ({"name": "a b<>"}, "Enter a valid username."),
    ],
)
def test_an_invitation_that_is_not_valid_is_refused(releaser, fields, message):
    answer = invite(releaser, **fields)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert User.objects.count() == 1


def test_roles_are_given_and_taken(releaser, robin):
    robin.groups.add(Group.objects.create(name="choir"))
    for roles in (["researcher", "reviewer"], ["researcher", "reviewer"], []):
        assert releaser.post(f"/staff/{robin.pk}/", {"roles": roles, "active": "on"}).url == "/staff/"
        assert sorted(robin.groups.values_list("name", flat=True)) == ["choir", *roles]
    assert [event.data["roles"] for event in Event.objects.filter(verb="roles changed")] == [
        [],
        ["researcher", "reviewer"],
    ]


def test_a_deactivated_person_is_logged_out_at_once_until_activated(releaser, robin):
    browser = Client()
    browser.force_login(robin)
    for _ in range(2):
        releaser.post(f"/staff/{robin.pk}/", {})
    assert browser.get("/").status_code == 302
    assert "is deactivated" in releaser.post(f"/staff/{robin.pk}/link/", follow=True).content.decode()
    releaser.post(f"/staff/{robin.pk}/", {"active": "on"})
    robin.refresh_from_db()
    assert robin.is_active
    assert list(Event.objects.order_by("pk").values_list("verb", flat=True)) == ["deactivated", "activated"]


def test_a_new_password_logs_out_whoever_had_the_old_one(releaser, robin):
    browser = Client()
    browser.force_login(robin)
    link = link_in(releaser.post(f"/staff/{robin.pk}/link/"))
    assert browser.get("/").status_code == 200
    set_password(link, "another long passphrase")
    assert browser.get("/").status_code == 302


@pytest.mark.parametrize("flag", ["is_superuser", "is_staff"])
def test_an_account_made_on_the_server_is_out_of_reach(releaser, robin, flag):
    User.objects.filter(pk=robin.pk).update(**{flag: True})
    for act in ("", "link/"):
        answer = releaser.post(f"/staff/{robin.pk}/{act}", {"roles": ["reviewer"]}, follow=True)
        assert "made on the server" in answer.text, act
    robin.refresh_from_db()
    assert (robin.is_active, robin.groups.count()) == (True, 0)
    assert not Event.objects.exists()


def test_an_admin_cannot_change_their_own_account(releaser):
    me = User.objects.get(username="admin")
    for act in ("", "link/"):
        answer = releaser.post(f"/staff/{me.pk}/{act}", {"roles": []}, follow=True)
        assert "your own account" in answer.text, act
    me.refresh_from_db()
    assert (me.is_active, me.groups.count()) == (True, 1)


def test_a_former_admin_changes_nothing(releaser, robin, monkeypatch):
    monkeypatch.setattr(admins_only, "may", lambda user: True)
    User.objects.get(username="admin").groups.clear()
    answer = releaser.post(f"/staff/{robin.pk}/", {}, follow=True)
    assert "You are no admin any more" in answer.content.decode()
    robin.refresh_from_db()
    assert robin.is_active


def test_the_link_is_mailed_where_a_mail_server_is_set(releaser, settings):
    invite(releaser, email="robin@example.org")
    assert mail.outbox == []
    settings.EMAIL_HOST = "mail.example.org"
    answer = invite(releaser, name="sam", email="sam@example.org")
    assert mail.outbox[0].to == ["sam@example.org"]
    assert link_in(answer) in mail.outbox[0].body
    assert "was sent to sam@example.org" in answer.content.decode()


def test_everybody_changes_their_own_password(reviewer):
    fields = {"old_password": "a long passphrase", "new_password1": PASSWORD, "new_password2": PASSWORD}
    assert reviewer.post("/password/", {**fields, "old_password": "wrong"}).status_code == 200
    assert not Event.objects.exists()
    assert reviewer.post("/password/", fields).url == "/"
    assert User.objects.get().check_password(PASSWORD)
    assert Event.objects.get().verb == "password set"


def test_the_list_asks_no_more_for_more_people(releaser, django_assert_max_num_queries):
    for number in range(20):
        User.objects.create(username=f"person-{number}").groups.add(Group.objects.get(name="reviewer"))
    with django_assert_max_num_queries(9):
        releaser.get("/staff/")
