"""The menu: every page of a section marks its entry; Ctrl+K, or a page without JavaScript, finds the rest. Old
addresses lead to the page that took them in, with what they asked for."""

import re

import pytest
from django.urls import reverse

from console.navigation import OF_USER, entry_of
from console.urls import OLD_ADDRESSES
from tests.console.addresses import ANY, GUARDED, address
from tests.console.conftest import Site

OF_ANYTHING = {"pairs", "pairs_csv", "pairs_review", "rename"}
NO_SECTION = {"home", "home_live", "activity", "go", "job", "job_progress", "job_cancel", "doctor", "password"}
OF_PROGRAMS = re.compile("tokens?|token_revoke|webhook|delivery")


def test_every_page_belongs_under_an_entry_or_to_the_user():
    names = {name for name in GUARDED if not OF_PROGRAMS.match(name)} - OF_ANYTHING - NO_SECTION
    addresses = {name: address(name).replace("/charts/any/", "/charts/round/") for name in names}
    assert {name for name, path in addresses.items() if entry_of(path) is None} == set()
    assert {entry_of(address(name)) for name in NO_SECTION | {"tokens"}} == {None}


def marked(client, path: str) -> list[tuple[str, str]]:
    header = client.get(path).text.split("</header>")[0]
    return re.findall(r'aria-current="(\w+)">([^<]+)</a>', header)


SECTIONS = [
    ("/collections/zoo/leaderboard/", "Results"),
    ("/collections/zoo/queue/", "Inbox"),
    ("/rounds/open/pairs/", "Rounds"),
]


def test_a_page_marks_the_entry_of_its_section(releaser, site):
    for path, entry in SECTIONS:
        assert marked(releaser, path) == [("true", entry)], path


def test_the_pages_behind_the_name_are_those_that_the_user_may_open(releaser, member, db):
    assert [one.title in releaser.get("/").text for one in OF_USER] == [True] * len(OF_USER)
    assert "/doctor/" not in member.get("/").text


def found(client, text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.url) for one in client.get("/go/", {"q": text}).context["found"]]


def test_names_lead_to_things_and_keys_to_their_pair(member, site: Site):
    assert ("round", "/rounds/open/") in found(member, "OPEN")
    assert ("collection", "/collections/zoo/") in found(member, "zoo")
    pseudonym = site.flagged.worker.pseudonym
    assert found(member, pseudonym[:6]) == [("worker", f"/workers/{pseudonym}/")]
    image, caption = site.collection.images.first(), site.collection.captions.last()
    assert found(member, f"{image.key} {caption.key}") == [("pair", f"/pairs/{image.pk}/{caption.pk}/")]
    assert ("image", f"/images/{image.pk}/") in found(member, image.key)


def test_acts_are_found_with_the_name_of_a_thing_by_who_may_do_them(researcher, member, site: Site):
    assert ("act", "/rounds/draft/discard/") in found(researcher, "discard draft")
    assert ("act", "/rounds/open/discard/") not in found(researcher, "discard open")  # a published round
    assert found(member, "discard draft") == []


def test_the_dialog_gets_the_list_alone_and_what_is_typed_is_escaped(member, db):
    part = member.get("/go/", {"q": "activity", "part": ""}).text
    assert 'role="option"' in part
    assert "<html" not in part
    assert "<script>x" not in member.get("/go/", {"q": "<script>x"}).text


@pytest.mark.parametrize(("old", "page"), OLD_ADDRESSES.items())
def test_an_old_address_leads_to_its_page_with_its_query(client, old, page):
    named = {name: ANY[kind] for kind, name in re.findall(r"<(\w+):(\w+)>", old)}
    address = re.sub(r"<\w+:(\w+)>", lambda part: str(named[part[1]]), old)
    response = client.get(f"/{address}?by=ada")
    assert (response.status_code, response.url) == (302, f"{reverse(page, kwargs=named)}?by=ada")
