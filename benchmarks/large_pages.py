"""Staff pages over 50,000 HITs and a million judgments: python -m benchmarks.large_pages [--hits N] [--repeats N]

Builds the rows of benchmarks.large_round and prints of each page the milliseconds of its first visit and of others
(median and 95th percentile) and its queries, in process and without a network. The first visit finds no kept figures;
a file is read until its first bytes. Then the pages of the round as a draft, and those of the same round on MTurk's
emulator, with a posting and a call for each HIT. ``--write`` puts the slowest pages into docs/benchmarks.md. Set
DATABASE_URL to measure PostgreSQL.
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from time import perf_counter
from urllib.parse import urlsplit

import numpy as np

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import fresh_database
from benchmarks.large_round import EXPORT, HITS, IMAGE, JOB, MEASURED, build, post

REPEATS = 20
SLOW = 500  # ms of a first visit from which a page is in the documentation
NAMES = {
    "collections": "coco", "annotators": "annotator-1", "pools": "pool", "rounds": "round", "versions": "v1",
    "samples": "queries", "tests": "test", "results": "v1", "plan": "coco", "charts": "round", "<slug:kind>s": "round",
    "names": "round", "workers": "round",
}  # fmt: skip
"""First part of an address → the name that follows it."""
ACTS = {"logout"}
ABSENT = {"result_picture", "signed_picture", "batch_undo"}  # no example while a round is open; no token; no import


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=HITS, help=f"number of HITs, about (default {HITS:,})")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"visits of each page (default {REPEATS})")
    parser.add_argument("--write", action="store_true", help="put the slowest into docs/benchmarks.md")
    options = parser.parse_args()
    os.environ["EMAIL_HOST"] = "localhost"  # for the page of forgotten passwords
    with fresh_database():
        build(options.hits)
        table = measure_all(options.repeats)
    if options.write:
        write_tables("large_pages", table)


def measure_all(repeats: int) -> str:
    """Print the figures of all pages; return the table of the slow ones."""
    from annotation.models import Judgment
    from hits.models import HIT, Item, Round
    from mitl.models import Proposal

    counts = ((HIT, "HITs"), (Item, "items"), (Proposal, "proposals"), (Judgment, "judgments"))
    head = [f"{', '.join(f'{model.objects.count():,} {name}' for model, name in counts)}.", ""]
    head += ["| page | first ms | p50 ms | p95 ms | queries |", "|---|---|---|---|---|"]
    print("\n".join(head), flush=True)
    rows = measure(repeats, chain(addresses(), other_addresses()))
    published = Round.objects.get().published_at
    Round.objects.update(published_at=None)
    rows += measure(repeats, draft_addresses())
    Round.objects.update(published_at=published)
    post()
    rows += measure(repeats, platform_addresses())
    slow = [row for first, row in rows if first >= SLOW]
    return "\n".join([*head, *slow, "", f"{len(rows) - len(slow)} further pages take less."]) + "\n"


def addresses() -> list[tuple[str, str]]:
    """Return each page's name and address."""
    from corpus.models import Collection

    collection = Collection.objects.get()
    image = collection.images.all()[IMAGE]
    caption = collection.captions.all()[10_000]
    return [
        ("home", "/"),
        ("collection", "/collections/coco/"),
        ("collection, words searched", "/collections/coco/?q=zebra+near"),
        ("pool", "/pools/pool/"),
        ("pairs of the pool", "/pools/pool/pairs/"),
        ("pairs of the pool, the 200th page", "/pools/pool/pairs/?page=200"),
        ("pairs of the pool, of an annotator at rank 1", "/pools/pool/pairs/?annotator=annotator-1&rank=1"),
        ("pairs of the pool, with words", "/pools/pool/pairs/?text=zebra+near+a+herd"),
        ("pairs of the pool, not judged", "/pools/pool/pairs/?verdict=none"),
        ("pairs of the round", "/rounds/round/pairs/"),
        ("pairs of the round, the 200th page", "/rounds/round/pairs/?page=200"),
        ("pairs of the round, of an annotator at rank 1", "/rounds/round/pairs/?annotator=annotator-1&rank=1"),
        ("pairs of the round, with words", "/rounds/round/pairs/?text=zebra+near+a+herd"),
        ("pairs of the round, with words that none has", "/rounds/round/pairs/?text=giraffe"),
        ("pairs of the round, with a vote of level 1", "/rounds/round/pairs/?level=1"),
        ("pairs of the round, of verdict yes", "/rounds/round/pairs/?verdict=yes"),
        ("pairs of the round, on which workers disagree", "/rounds/round/pairs/?disagreement=yes"),
        ("pairs of the round, flagged", "/rounds/round/pairs/?flagged=review"),
        ("pairs of the round, flagged, with words", "/rounds/round/pairs/?flagged=review&text=zebra"),
        ("pairs of the round, least sure first", "/rounds/round/pairs/?sort=unsure"),
        ("pairs of the round, controls", "/rounds/round/pairs/?control=yes"),
        ("pairs of the round, of a picture", f"/rounds/round/pairs/?image={image.key}"),
        ("pairs of the round, of a caption", f"/rounds/round/pairs/?caption={caption.key}"),
        ("pairs of the round, with three votes", "/rounds/round/pairs/?votes=3"),
        ("pairs of the round, with a review", "/rounds/round/pairs/?flagged=reviewed"),
        ("pairs of the round, of two annotators", "/rounds/round/pairs/?annotator=annotator-1&also=annotator-2"),
        ("pairs of the round, where they differ", "/rounds/round/pairs/?annotator=annotator-1&unlike=annotator-2"),
        ("pairs of the version", "/versions/v1/pairs/"),
        ("pairs of the version, matches with words", "/versions/v1/pairs/?verdict=yes&text=zebra"),
        ("a pair", f"/pairs/{image.pk}/{caption.pk}/"),
        ("an image and its captions", f"/images/{image.pk}/"),
        ("a caption and its images", f"/captions/{caption.pk}/"),
        ("rounds", "/rounds/"),
        ("round", "/rounds/round/"),
        ("HITs", "/rounds/round/hits/"),
        ("HITs, page 1,000", "/rounds/round/hits/?page=1000"),
        ("one HIT", "/rounds/round/hits/1/"),
        ("inbox", "/inbox/"),
        ("pairs to review", "/collections/coco/queue/"),
        ("workers", "/workers/"),
        ("money", "/rounds/round/money/"),
        ("activity", "/activity/"),
        ("a picture", f"/pictures/{image.pk}/?size=320"),
    ]


def draft_addresses() -> list[tuple[str, str]]:
    """Return the name and address of each page that differs for a draft."""
    pages = ("", "publish/", "consent/", "rehearse/", "rehearse/pictures/1/", "rehearsals/", "discard/")
    return [(f"a draft: {page or 'round'}", f"/rounds/round/{page}") for page in pages]


def platform_addresses() -> list[tuple[str, str]]:
    """Return the name and address of each page that differs where a round is on a platform."""
    from annotation.models import Assignment

    return [
        ("on a platform: home", "/"),
        ("on a platform: home live", "/live/"),
        ("on a platform: round", "/rounds/round/"),
        ("on a platform: round live", "/rounds/round/live/"),
        ("on a platform: HITs", "/rounds/round/hits/"),
        ("on a platform: inbox", "/inbox/"),
        ("on a platform: money", "/rounds/round/money/"),
        ("on a platform: costs", "/rounds/round/money/?costs=asked"),
        ("on a platform: prolong", "/rounds/round/prolong/"),
        ("on a platform: repair", "/rounds/round/audit/repair/"),
        ("on a platform: pay a submission", f"/submissions/{Assignment.objects.first().pk}/pay/"),
        ("on a platform: activity", "/activity/"),
    ]


ON_PLATFORMS = {"round_prolong", "audit_repair", "submission_pay"}


def other_addresses() -> Iterator[tuple[str, str]]:
    """Yield each page of the URL conf that is not among ``addresses``, by its name, for the rows that were built."""
    from django.urls import resolve, reverse
    from django.urls.resolvers import URLPattern

    from console.urls import urlpatterns

    seen = {resolve(urlsplit(page).path).view_name for _, page in addresses()}
    values = _values()
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        name, wanted = str(pattern.name), pattern.pattern.converters
        if name in seen | ACTS | ABSENT | ON_PLATFORMS:
            continue
        named = {"name": NAMES.get(str(pattern.pattern).split("/")[0], ""), **values}
        if name == "benchmark":
            named["job_id"] = MEASURED
        if wanted.keys() <= named.keys():  # tokens and webhooks are not built
            yield name, reverse(name, kwargs={part: named[part] for part in wanted})


def _values() -> dict[str, object]:
    """Return the value of each part of an address."""
    from django.contrib.auth.models import User

    from annotation.models import Assignment, Worker
    from corpus.models import Caption, Image
    from hits.models import Control

    return {
        "image_id": Image.objects.all()[IMAGE].pk,
        "caption_id": Caption.objects.all()[10_000].pk,
        "assignment_id": Assignment.objects.first().pk,
        "pseudonym": Worker.objects.first().pseudonym,
        "control_id": Control.objects.first().pk,
        "user_id": User.objects.first().pk,
        "kind": "round",
        "subject": "workers",
        "form": "svg",
        "task": "levels",
        "design": "eccv-18",
        "number": 1,
        "place": 1,
        "what": EXPORT,
        "file_name": "manifest.json",
        **dict.fromkeys(("run_id", "review_id", "rejection_id", "appeal_id", "invitation_id"), 1),
        "job_id": JOB,
        "call_id": JOB,
        **dict.fromkeys(("uidb64", "token"), "none"),
    }


def measure(repeats: int, pages: Iterable[tuple[str, str]]) -> list[tuple[float, str]]:
    """Print and return the first visit's milliseconds and a row of figures for each of ``pages``, names and addresses;
    then print those that allow no GET, and those that only lead on. Raises RuntimeError for any other answer."""
    from django.contrib.auth.models import Group, User
    from django.core.cache import cache
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    staff, _ = User.objects.get_or_create(username="benchmark", is_superuser=True)
    staff.groups.set(Group.objects.all())
    client = Client(SERVER_NAME="localhost")
    client.force_login(staff)
    rows: list[tuple[float, str]] = []
    others: dict[int, list[str]] = {405: [], 302: []}

    def visit(page: str) -> tuple[int, float]:
        begun = perf_counter()
        answer = client.get(page)
        if answer.streaming:
            next(iter(answer.streaming_content))
        took = 1000 * (perf_counter() - begun)
        answer.close()
        return answer.status_code, took

    for name, page in pages:
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            status, first = visit(page)
            count = len(queries)
        if status in others:
            others[status].append(name)
            continue
        if status != 200:
            raise RuntimeError(f"{page} answers {status}.")
        times = [visit(page)[1] for _ in range(repeats)]
        figures = f"{first:.0f} | {np.median(times):.0f} | {np.percentile(times, 95):.0f} | {count}"
        rows.append((first, f"| {name.replace('_', ' ')} | {figures} |"))
        print(rows[-1][1], flush=True)
    print(f"Left out, as they allow no GET: {', '.join(others[405]) or 'none'}.")
    print(f"Lead on: {', '.join(others[302]) or 'none'}.", flush=True)
    return rows


if __name__ == "__main__":
    main()
