"""Invalid and altered addresses."""

import pytest


@pytest.mark.parametrize("address", ["/judge/join/%00/", "/events/?subject=%00", "/login/?next=a%00b"])
def test_an_address_with_a_nul_leads_nowhere(admin_client, address):
    answer = admin_client.get(address)
    assert (answer.status_code, "Page not found" in answer.text) == (404, True)


def test_an_address_that_only_takes_forms_says_so_when_it_is_opened(researcher, db):
    answer = researcher.get("/versions/v1/verify/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Nothing to show here" in answer.text
    assert "Back to the home page" in answer.text


def test_a_worker_who_opens_such_an_address_is_sent_to_their_own_page(client, db):
    answer = client.get("/judge/me/x/take/")
    assert answer.status_code == 405
    assert "Go back to your own page" in answer.text
    assert "Back to the home page" not in answer.text
