"""Each parameter of each address of the site is listed as secret or harmless, and no secret one reaches a log."""

import logging
import re
from collections.abc import Iterator

import pytest
from django.urls import URLResolver, get_resolver

from config.logs import JsonFormatter, MaskedFormatter
from tests.project.log_lines import access_line

SECRET = {"token", "join_key"}  # Whoever has one acts as its owner.
# These name things, open nothing without a login and help who reads a log.
HARMLESS = {
    *("name", "collection", "round", "kind", "subject", "form", "what", "file_name", "pseudonym", "job_id", "call_id"),
    *("webhook_id", "word"),  # only its owner opens its page; the word is what to do with it
    *("channel", "environment", "language"),
    *("task", "design", "pool"),  # of a round that is planned
    *("app_label", "object_id", "content_type_id", "id", "url"),  # of the Django admin
    "uidb64",  # the number of an account
}
PARAMETER = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>")  # also in a regular expression: (?P<name>…)


def routes(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, set[str]]]:
    """Yield each route of the site, and the names of its parameters that are not numbers."""
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        assert entry.pattern.regex.groups == len(entry.pattern.regex.groupindex), f"{route}: name its parameters"
        if isinstance(entry, URLResolver):
            yield from routes(entry, route)
        else:
            yield route, {found["name"] for found in PARAMETER.finditer(route) if found["kind"] != "int"}


def with_secrets(route: str) -> str:
    return PARAMETER.sub(lambda found: "s3cret-word" if found["name"] in SECRET else "7", route)


ROUTES = list(routes(get_resolver()))
WITH_SECRETS = [with_secrets(route) for route, names in ROUTES if names & SECRET]


def test_every_parameter_is_known_as_secret_or_harmless():
    named = set().union(*(names for _, names in ROUTES))
    assert {"token", "join_key", "uidb64", "object_id", "app_label"} <= named
    assert named - SECRET - HARMLESS == set(), "list a new parameter above; a secret one has to be masked too"


@pytest.mark.parametrize("address", WITH_SECRETS)
def test_no_secret_part_of_an_address_is_in_a_log(address, tmp_path):
    kept = address.replace("s3cret-word", "***")
    fields = {"fields": {"path": address}}
    record = logging.getLogger("requests").makeRecord("requests", 20, "f", 1, "GET %s", (address,), None, extra=fields)
    assert f'"path": "{kept}"' in JsonFormatter().format(record)
    assert MaskedFormatter().format(record) == f"GET {kept}"
    assert kept in (line := access_line(address, tmp_path / "access.log"))
    assert "s3cret-word" not in line
