"""No worker of an open round learns its controls from the staff's pages or calls, by any role or scope."""

import csv
import json
import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from console.api.site_api import api
from corpus.models import Caption, Image
from dataset.exports.downloads import make_download
from dataset.publications import publish
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from hits.models import HIT, Control, Item, Round
from tests.console.api.calls import caller_of
from tests.console.conftest import answer_rightly
from tests.dataset.releasing import release_version
from tests.factories import make_round

REVEALING = {"control", "polarity", "gold"}
EXPORTS = ("judgments-long", "judgments-csv", "eccv-json_lenient", "parquet")
NAMED = {"collections": "zoo", "versions": "v2", "pools": "pool-secret", "annotators": "overlap"}
READ = [
    (path, call)
    for path, calls in api.get_openapi_schema()["paths"].items()
    for method, call in calls.items()
    if method == "get"
]


@pytest.fixture(scope="module")
def secret(lasting_site) -> SimpleNamespace:
    """An open round that was answered, counted, reviewed in part, released and published on the result page. No image
    and no caption is in two of its pairs."""
    zoo = lasting_site.collection
    Round.objects.filter(name="done").update(closed_at=timezone.now())
    for rows, word in ((Image, "picture"), (Caption, "sentence")):
        for row in rows.objects.filter(collection=zoo):
            rows.objects.filter(pk=row.pk).update(key=f"{word}-{row.pk}-key")
    made = make_round(zoo, "secret")
    hit = made.hits.get()
    refill(hit, list(zoo.images.order_by("pk")))
    answer_rightly(made)
    aggregate_round(made)
    asked = list(hit.items.order_by("place").select_related("image", "caption", "control"))
    reviewer = User.objects.create_user("rowan")
    conclude(zoo, [(asked[0].image_id, asked[0].caption_id)], Conclusion("level", 2), by=reviewer, seen=None)
    version = release_version("v2", collection=zoo, sample=made.pool.sample, rounds=[made], partial=True)
    downloads = [make_download(version, what).what for what in EXPORTS]
    publish(version, picture_terms="ours", by=reviewer)
    return SimpleNamespace(round=made, items=asked, version=version, downloads=downloads, site=lasting_site)


def refill(hit: HIT, images: list[Image]) -> None:
    """Ask two candidates, then a positive and a negative control, all of other images and captions."""
    hit.items.all().delete()
    hit.round.controls.all().delete()
    pairs = [(0, 1, ""), (2, 3, ""), (4, 4, "positive"), (5, 6, "negative")]
    for place, (image, of, polarity) in enumerate(pairs, 1):
        pair = {"image": images[image], "caption": images[of].captions.last()}
        control = Control.objects.create(round=hit.round, polarity=polarity, **pair) if polarity else None
        Item.objects.create(hit=hit, place=place, control=control, **pair)


def text_of(answer: HttpResponse) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode(errors="replace")


def records(value: object) -> Iterator[str]:
    """The rows of what was read from JSON: objects of plain values, and lists by their key."""
    if isinstance(value, dict):
        yield json.dumps({key: one for key, one in value.items() if not isinstance(one, dict | list)})
        for key, one in value.items():
            yield f"{key} {json.dumps(one)}" if isinstance(one, list) and not any(map(_is_row, one)) else ""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from records(one)


def _is_row(value: object) -> bool:
    return isinstance(value, dict | list)


def marks_of(item: Item) -> tuple[str, ...]:
    """Return the texts that identify the item on a page."""
    pair, caption = reverse("pair", args=[item.image_id, item.caption_id]), reverse("caption", args=[item.caption_id])
    return pair, caption, item.caption.text


def items_in(items: list[Item], answer: HttpResponse) -> set[int]:
    """The items whose pair is in a row of an answer, or whose caption is on a page."""
    text = text_of(answer)
    kind = answer["Content-Type"]
    if kind.startswith("application/json") and not kind.startswith("application/jsonl"):
        rows = list(records(json.loads(text)))
    elif "html" in kind:
        return {item.pk for item in items if any(mark in text for mark in marks_of(item))}
    else:
        rows = text.splitlines()
    return {item.pk for item in items for row in rows if item.image.key in row and item.caption.key in row}


def names_controls(answer: HttpResponse) -> bool:
    """Whether a column or a field says which pairs are controls."""
    text = text_of(answer)
    if answer["Content-Type"].startswith("text/csv") or "," in text.partition("\n")[0]:
        header = next(csv.reader(text.splitlines()[:1]), [])
        if REVEALING & set(header):
            return True
    return bool(re.search(r'"(control|polarity|gold)": "', text))


def separates(items: list[Item], answer: HttpResponse) -> bool:
    """Whether an answer has some pairs of the round and not the others, or says what they are."""
    if answer.status_code != 200 or answer["Content-Type"].startswith("image/"):
        return False
    answer = HttpResponse(text_of(answer), content_type=answer["Content-Type"])
    return len(items_in(items, answer)) not in (0, len(items)) or names_controls(answer)


def calls_of(secret: SimpleNamespace) -> list[str]:
    """The address of every call that reads, for the rows of the round."""
    files = [*secret.version.manifest["files"], "manifest.json"]
    fills = {"{round}": ["secret"], "{collection}": ["zoo"], "{file_name}": files, "{what}": secret.downloads}
    found = []
    for path, call in READ:
        address = path.removeprefix("/api/v1")
        kind = address.split("/")[1]
        address = address.replace("{name}", NAMED.get(kind, "none"))
        address = re.sub(r"{id}", str(secret.site.retrieval.pk) if kind == "retrievals" else "1", address)
        for part, values in fills.items():
            if part in address:
                found += [address.replace(part, value) for value in values]
                break
        else:
            found.append(address)
        query = {one["name"] for one in call.get("parameters", ()) if one["in"] == "query"}
        if "format" in query:
            found += [f"{one}?format=jsonl" for one in found[-1:]]
    return [f"{one}{'&' if '?' in one else '?'}round=secret" if "/verdicts" in one else one for one in found]


def pages_of(secret: SimpleNamespace, addresses: dict[str, str]) -> list[str]:
    """Every address of the console, also of this round and of its version, and those of its pairs and files."""
    pages = {*addresses.values()}
    pages |= {one.replace("/open/", "/secret/").replace("/draft/", "/secret/") for one in pages}
    pages |= {one.replace("/v1/", "/v2/") for one in pages}
    pages |= {f"/rounds/secret/pairs{end}" for end in ("/?control=yes", ".csv", ".csv?control=yes", "/?unlike=v2")}
    pages |= {"/versions/v1/pairs/?unlike=v2", "/collections/zoo/?q=caption", "/results/v2/", "/events/?round=secret"}
    pages |= {f"/versions/v2/files/{name}" for name in secret.version.manifest["files"]}
    pages |= {f"/versions/v2/downloads/{what}.zip" for what in secret.downloads}
    control = secret.round.controls.first()
    pages |= {f"/rounds/secret/controls/{control.pk}/", f"/review/{secret.round.hits.get().assignments.get().pk}/"}
    for item in secret.items:
        pages |= {
            f"/pairs/{item.image_id}/{item.caption_id}/",
            f"/images/{item.image_id}/",
            f"/captions/{item.caption_id}/",
        }
    return sorted(pages)


def test_no_page_reveals_controls_of_an_open_round_to_an_account_without_a_role(
    member,
    secret,
    addresses_of_the_site,
):
    revealing = [page for page in pages_of(secret, addresses_of_the_site) if separates(secret.items, member.get(page))]
    assert revealing == []


def test_no_call_reveals_controls_of_an_open_round_to_an_account_without_a_role(secret, db):
    caller = caller_of("member")
    assert [path for path in calls_of(secret) if separates(secret.items, caller.get(path))] == []


@pytest.mark.parametrize("role", ["researcher", "admin"])
def test_no_call_reveals_controls_of_an_open_round_to_any_role(secret, role, db):
    caller = caller_of(role)
    answers = {path: caller.get(path) for path in calls_of(secret)}
    assert {path for path, answer in answers.items() if answer.status_code == 200 and names_controls(answer)} == set()
    candidates = {item.pk for item in secret.items if item.control is None}
    for path in ("/rounds/secret/judgments", "/rounds/secret/judgments?format=jsonl"):
        assert items_in(secret.items, caller.get(path)) == candidates, path


def test_pages_show_controls_to_each_role(reviewer, researcher, secret):
    (positive, _) = secret.items[2:]
    for client in (reviewer, researcher):
        assert positive.caption.text in client.get("/rounds/secret/hits/?show=controls").text
        assert positive.caption.text in client.get("/rounds/secret/hits/1/").text
        assert client.get("/versions/v2/files/pairs.csv").status_code == 200


def test_files_with_judgments_are_refused_before_the_round_is_closed(releaser, member, secret):
    paths = ("/versions/v2/files/judgments.csv", "/versions/v2/downloads/judgments-long.zip")
    for path in paths:
        refused = releaser.get(path)
        assert (refused.status_code, "until these rounds are closed" in refused.text) == (403, True), path
    Round.objects.filter(name="secret").update(closed_at=timezone.now())
    assert [client.get(path).status_code for path in paths for client in (member, releaser)] == [200] * 4


def test_controls_of_a_closed_round_are_shown_to_every_account(member, secret):
    Round.objects.update(closed_at=timezone.now())
    caller = caller_of("member")
    lines = caller.get("/rounds/secret/judgments").json()["results"]
    assert [line["control"] for line in lines] == ["", "", "positive", "negative"]
    assert caller.get(f"/retrievals/{secret.site.retrieval.pk}/lists").status_code == 200
    assert member.get("/rounds/secret/hits/?show=controls").status_code == 200
