"""Invalid and altered addresses."""

import pytest


@pytest.mark.parametrize("address", ["/judge/join/%00/", "/events/?subject=%00", "/login/?next=a%00b"])
def test_an_address_with_a_nul_leads_nowhere(admin_client, address):
    answer = admin_client.get(address)
    assert (answer.status_code, "Page not found" in answer.text) == (404, True)
