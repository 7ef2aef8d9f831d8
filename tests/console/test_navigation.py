"""The main navigation: every page of a section marks its entry."""

import re

from console.templatetags.console import NAVIGATION, entry_of
from tests.console.addresses import GUARDED, address

NO_SECTION = {"home", "home_live", "pipeline", "password"}


def test_every_page_belongs_under_an_entry():
    of_anything = {"pairs", "pairs_csv", "pairs_review", "rename"}
    names = GUARDED.keys() - NO_SECTION - of_anything
    addresses = {name: address(name).replace("/charts/any/", "/charts/round/") for name in names}
    assert {name for name, path in addresses.items() if entry_of(path) not in NAVIGATION} == set()


def test_home_and_password_belong_under_none():
    assert {entry_of(address(name)) for name in NO_SECTION} == {""}


def marked(client, path: str) -> list[tuple[str, str]]:
    header = client.get(path).text.split("</header>")[0]
    return re.findall(r'aria-current="(\w+)">([^<]+)</a>', header)


SECTIONS = [
    ("/collections/zoo/leaderboard/", "Leaderboard"),
    ("/collections/zoo/queue/", "Review"),
    ("/charts/version/v1/positives/", "Versions"),
    ("/rounds/open/pairs/", "Rounds"),
]


def test_a_page_marks_the_entry_of_its_section(releaser, site):
    for path, entry in SECTIONS:
        assert marked(releaser, path) == [("true", entry)], path
