"""A person who forgot their password gets a link by mail; the answer does not reveal who has an account."""

import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

from core.models import Event

pytestmark = pytest.mark.django_db
ELSEWHERE = "203.0.113.7"


@pytest.fixture(autouse=True)
def server(settings):
    """A mail server is set, and the limits are fresh."""
    settings.EMAIL_HOST = "mail.example.org"
    cache.clear()


@pytest.fixture
def robin(db) -> User:
    return User.objects.create_user("robin", email="robin@example.org", password="forgotten")


def ask(email: str, client: Client | None = None, **where: str):
    return (client or Client()).post("/password/forgotten/", {"email": email}, follow=True, **where)


def test_the_link_sets_a_password_and_the_old_one_is_valid_until_it_is_used(robin):
    ask("Robin@Example.org")
    assert mail.outbox[0].to == ["robin@example.org"]
    link = re.search(r"http://127\.0\.0\.1:8000(/password/\S+)", mail.outbox[0].body)[1]
    assert User.objects.get().check_password("forgotten")
    visitor = Client()
    chosen = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    visitor.post(visitor.post(link).url, chosen)
    assert User.objects.get().check_password("correct horse battery")
    verbs = list(Event.objects.order_by("pk").values_list("verb", "actor"))
    assert verbs == [
        *(("password link mailed", "robin"), ("password link used", "robin")),
        ("password set", "robin"),
    ]


def test_the_answer_is_the_same_for_known_and_unknown_addresses(robin):
    said = [re.sub(r'value="\w{64}"', "", ask(email).text) for email in ("robin@example.org", "nobody@example.org")]
    assert said[0] == said[1]
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_superuser": True}, {"is_staff": True}])
def test_deactivated_accounts_and_those_of_the_server_get_no_mail(robin, change):
    User.objects.update(**change)
    ask("robin@example.org")
    assert mail.outbox == []


def test_an_invited_person_whose_link_was_lost_gets_another(db):
    invited = User(username="sam", email="sam@example.org")
    invited.set_unusable_password()
    invited.save()
    ask("sam@example.org")
    assert mail.outbox[0].to == ["sam@example.org"]


def test_a_mailbox_is_not_filled_and_an_address_asks_only_so_often(robin, settings):
    settings.PASSWORD_MAILS_PER_HOUR = 3
    answers = [ask("robin@example.org", REMOTE_ADDR=ELSEWHERE) for _ in range(4)]
    assert len(mail.outbox) == 1
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "Too many requests" in answers[-1].text
    assert 'value="robin@example.org"' in answers[-1].text


def test_a_host_that_a_visitor_makes_up_is_not_in_the_link(robin, settings):
    settings.ALLOWED_HOSTS = ["*"]
    ask("robin@example.org", HTTP_HOST="evil.example")
    assert "evil.example" not in mail.outbox[0].body


def test_without_a_mail_server_the_login_says_whom_to_ask(robin, settings):
    assert "/password/forgotten/" in Client().get("/login/").text
    settings.EMAIL_HOST = ""
    page = Client().get("/login/").text
    assert "Ask an admin for a link" in page
    assert "/password/forgotten/" not in page
    assert ask("robin@example.org").status_code == 404
