"""Invalid and altered addresses."""

import pytest
from django.contrib.auth.models import User


@pytest.mark.parametrize("address", ["/judge/join/%00/", "/events/?subject=%00", "/login/?next=a%00b"])
def test_an_address_with_a_nul_leads_nowhere(admin_client, address):
    answer = admin_client.get(address)
    assert (answer.status_code, "Page not found" in answer.text) == (404, True)


def test_a_request_below_a_path_is_refused_in_one_line(client):
    answer = client.get("/login/", SCRIPT_NAME="/counterpart")
    assert (answer.status_code, answer.text.partition(".")[0]) == (404, "Counterpart works only at the root of a host")


def test_no_cookie_has_a_name_that_other_sites_use(client, settings, db):
    client.get("/login/")
    User.objects.create_user("robin", password="a long passphrase")
    client.post("/login/", {"username": "robin", "password": "a long passphrase"})
    client.get("/judge/join/x/")
    assert {*client.cookies} == {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME}
    assert all(name.startswith("counterpart_127_0_0_1_8000_") for name in client.cookies)


def test_an_address_that_only_takes_forms_leads_back_when_it_is_opened(researcher, client, db):
    answer = researcher.get("/conflicts/send/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "home page" in answer.text
    worker = client.get("/judge/me/x/take/")
    assert (worker.status_code, "home page" in worker.text, "your own page" in worker.text) == (405, False, True)
