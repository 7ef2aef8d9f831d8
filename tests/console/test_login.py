from django.contrib.auth.models import User


def test_logging_in_leads_to_where_one_was_going(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    answer = stranger.post("/login/", {"username": "ada", "password": "a long passphrase", "next": "/rounds/"})
    assert answer.url == "/rounds/"


def test_a_wrong_password_is_told_and_lets_nobody_in(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    answer = stranger.post("/login/", {"username": "ada", "password": "wrong"})
    assert "Please enter a correct username" in answer.content.decode()
    assert stranger.get("/").status_code == 302


def test_logging_out_closes_the_door(member):
    assert member.post("/logout/").url == "/login/"
    assert member.get("/").status_code == 302


def test_login_never_leads_to_another_site(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    data = {"username": "ada", "password": "a long passphrase", "next": "https://evil.example/"}
    assert stranger.post("/login/", data).url == "/"
