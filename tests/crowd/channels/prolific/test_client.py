"""The client on the wire: what an error means for the next attempt, and which pages are read."""

import json
import re
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

import httpx
import pytest

from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import FUNDS_PAUSE, Client, Environment, ProlificError
from crowd.channels.prolific.submissions import collect
from crowd.channels.prolific.workspaces import TYPES, subscribe
from crowd.models import Posting
from tests.crowd.channels.prolific.replies import API, client_with
from tests.project.names import APPS, ROOT


def failed(reply: httpx.Response | Exception) -> ProlificError:
    with pytest.raises(ProlificError) as caught:
        client_with(reply).post("studies/", {})
    return caught.value


def page(*ids: str, following: str | None = None, count: int | None = None) -> httpx.Response:
    rows = [{"id": one} for one in ids]
    links = {"next": {"href": following}}
    return httpx.Response(200, json={"results": rows, "_links": links, "meta": {"count": count or len(ids)}})


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": {"status": 400, "detail": "No such study."}}, "No such study."),
        ({"error": {"status": 400, "detail": ["One.", "Two."]}}, "One. Two."),
        (
            {"error": {"detail": {"reward": ["Too low.", "Odd."], "name": "Missing."}}},
            "reward: Too low. Odd. name: Missing.",
        ),
        ({"status": 400, "detail": "Unwrapped."}, "Unwrapped."),
        ({"message": "Of another kind.", "detail": "Shown first."}, "Shown first."),
        ({"message": "Of another kind."}, "Of another kind."),
        (["A list."], "A list."),
    ],
)
def test_the_detail_of_an_error_is_read_from_every_shape(body, detail):
    assert str(failed(httpx.Response(400, json=body))) == f"Prolific answered 400: {detail}"


def test_an_error_without_json_has_no_details():
    error = failed(httpx.Response(502, html="<html>Bad gateway</html>"))
    assert (str(error), error.code) == ("Prolific answered 502: no details", "502")


@pytest.mark.parametrize(
    ("reply", "reached", "permanent"),
    [
        (httpx.Response(400, json={"detail": "Wrong."}), False, True),
        (httpx.Response(401, json={"detail": "Wrong token."}), False, True),
        (httpx.Response(429, json={}), False, False),
        (httpx.Response(402, json={}), False, False),
        (httpx.Response(409, json={"detail": "State conflict."}), True, False),
        (httpx.Response(422, json={}), True, False),
        (httpx.Response(423, json={}), True, False),
        (httpx.Response(500), True, False),
        (httpx.Response(200, text="not JSON"), True, False),
        (httpx.ConnectError("refused"), False, False),
        (httpx.ConnectTimeout("slow"), False, False),
        (httpx.ReadTimeout("slow"), True, False),
        (httpx.RemoteProtocolError("gone"), True, False),
    ],
)
def test_an_error_says_whether_the_call_may_have_had_an_effect_and_whether_to_repeat_it(reply, reached, permanent):
    error = failed(reply)
    assert (error.reached, error.permanent) == (reached, permanent)


@pytest.mark.parametrize(("named", "seconds"), [("7", 7), ("", 20), ("Mon, 23 Nov 2026 04:00:00 GMT", 20)])
def test_too_many_calls_are_repeated_when_prolific_says_or_else_soon(named, seconds):
    headers = {"Retry-After": named} if named else {}
    assert failed(httpx.Response(429, headers=headers)).retry_after == timedelta(seconds=seconds)


def test_a_call_without_funds_waits_for_money():
    error = failed(httpx.Response(400, json={"error": {"detail": "You do not have enough funds."}}))
    assert (error.permanent, error.retry_after) == (False, FUNDS_PAUSE)


def test_next_links_are_followed_and_a_row_on_two_pages_counts_once():
    there = client_with(page("a", "b", following=f"{API}/api/v1/studies/?offset=2", count=3), page("b", "c", count=3))
    assert [row["id"] for row in there.rows("studies/")] == ["a", "b", "c"]


def bare(*ids: str) -> httpx.Response:
    """A page that names neither a next one nor how many rows there are."""
    return httpx.Response(200, json={"results": [{"id": one} for one in ids]})


@pytest.mark.parametrize("end", [bare("e"), bare(), httpx.Response(404)])
def test_after_a_full_page_without_links_the_next_number_is_asked_for(end):
    there = client_with(bare("a", "b"), bare("c", "d"), end)
    assert [row["id"] for row in there.rows("submissions/", page_size=2)][:4] == ["a", "b", "c", "d"]


def test_a_list_with_missing_rows_is_read_again_later():
    there = client_with(page("a", "b", following=f"{API}/next", count=3), page("b", count=3))
    with pytest.raises(ProlificError, match="changed while it was read") as caught:
        there.rows("studies/")
    assert not caught.value.permanent


def test_a_page_past_the_end_is_the_end_and_another_error_is_not():
    assert len(client_with(page("a", following=f"{API}/next"), httpx.Response(404)).rows("studies/")) == 1
    with pytest.raises(ProlificError, match="500"):
        client_with(page("a", following=f"{API}/next"), httpx.Response(500)).rows("studies/")


@pytest.mark.parametrize(
    "following", ["https://elsewhere.test/api/v1/studies/", f"{API}.elsewhere.test/", "//elsewhere.test/"]
)
def test_the_token_follows_no_link_to_another_site(following):
    with pytest.raises(ProlificError, match="at another site"):
        client_with(page("a", following=following)).rows("studies/")


def test_a_study_without_its_id_is_not_listed_as_prolific_would_list_the_whole_account():
    with pytest.raises(ChannelError, match="the whole account"):
        collect(client_with(), Posting())


# What docs/prolific.md says in figures and lists is so


PAGE = (ROOT / "docs/prolific.md").read_text()
OWN = ("commands/emulate.py", "commands/subscribe_hooks.py", "doors/prolific.py")


def test_outside_its_folders_prolific_is_named_in_six_lines_and_three_files_of_its_own():
    files = [path.relative_to(ROOT) for app in APPS for path in (ROOT / app).rglob("*.py")]
    outside = [path.as_posix() for path in files if "channels/prolific" not in path.as_posix()]
    lines = {path: (ROOT / path).read_text().lower().splitlines() for path in outside}
    named = {path: count for path in outside if (count := sum("prolific" in line for line in lines[path]))}
    own = {path for path in named if path.endswith(OWN)}
    assert len(own) == len(OWN)
    others = {path: count for path, count in named.items() if path not in own}
    old_name = {"core/command_groups.py": 1}  # goes with the next version
    assert others == {"core/extensions.py": 1, "simulation/doors/platform_door.py": 5} | old_name


@pytest.mark.parametrize(("column", "share"), [(1, Decimal("0.333")), (2, Decimal("0.428"))])
def test_the_costs_of_a_pilot_are_worked_out_right(column, share):
    cells = [line.split("|") for line in PAGE.splitlines() if line.startswith("|") and "$" in line]
    listed = {row[1].strip(): Decimal(re.search(r"\$([\d.]+)", row[1 + column])[1]) for row in cells}
    rewards = 20 * Decimal("2.00")
    fees, tax = rewards * share, rewards * share * Decimal("0.20")
    worked_out = {"20 rewards": rewards, "fees": fees, "tax on the fees, if 20%": tax, "together": rewards + fees + tax}
    assert listed == {name: amount.quantize(Decimal("0.01"), ROUND_HALF_UP) for name, amount in worked_out.items()}


# Subscriptions to events, as Prolific's two descriptions of them answer


HERE = "https://judge.example/hook/"


def subscription(id: str, kind: str, address: str = HERE) -> dict:
    return {"id": id, "event_type": kind, "target_url": address, "is_enabled": True, "workspace_id": "w1"}


@pytest.mark.parametrize("as_list", [True, False])
def test_new_subscriptions_are_confirmed_and_then_the_earlier_ones_of_the_site_removed(as_list):
    there = [subscription("old", TYPES[0]), subscription("others", TYPES[0], "https://other.example/")]
    confirmed, removed = [], []

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/hooks/")
        sent = json.loads(request.content or "{}")
        if path == "secrets/":
            return httpx.Response(201, json={"value": "the-secret"})
        if request.method == "DELETE":
            removed.append(path)
            return httpx.Response(204)
        if request.method == "GET":
            return httpx.Response(200, json={"results": there if request.url.params["is_enabled"] == "true" else []})
        if path != "subscriptions/":
            confirmed.append((path, sent["secret"]))
            return httpx.Response(200, json={})
        new = subscription(f"new-{len(there)}", sent["event_type"])
        there.append(new)
        headers = {"X-Hook-Secret": f"of {new['id']}"}
        return httpx.Response(201, headers=headers, json={"results": there} if as_list else new)

    place = Environment("live", "https://api.test", "https://app.test", "the-token", "w1")
    assert subscribe(Client(place, transport=httpx.MockTransport(answer)), HERE) == "the-secret"
    assert confirmed == [("subscriptions/new-2/", "of new-2"), ("subscriptions/new-3/", "of new-3")]
    assert removed == ["subscriptions/old/"]
