"""Old addresses lead to the page that took them in, with what they asked for."""

import re

import pytest
from django.urls import reverse

from console.urls import OLD_ADDRESSES
from tests.console.addresses import ANY


@pytest.mark.parametrize(("old", "page"), OLD_ADDRESSES.items())
def test_an_old_address_leads_to_its_page_with_its_query(client, old, page):
    named = {name: ANY[kind] for kind, name in re.findall(r"<(\w+):(\w+)>", old)}
    address = re.sub(r"<\w+:(\w+)>", lambda part: str(named[part[1]]), old)
    response = client.get(f"/{address}?by=ada")
    assert (response.status_code, response.url) == (302, f"{reverse(page, kwargs=named)}?by=ada")
