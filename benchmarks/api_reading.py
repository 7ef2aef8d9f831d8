"""A million judgments read by the API, 1,000 a call: python -m benchmarks.api_reading [--hits N] [--calls N]

Stores a judged round, serves the site as everywhere (gunicorn) and reads parts of its judgments one after the other:
from the start, from the middle and at the end. With ``--peer``, the folder of an environment in which label-studio is
installed, Label Studio serves the answers of the first ``--tasks`` pairs in the same run: its pages of 1,000 tasks
with their annotations, and its export of all. ``--write`` puts the table into docs/benchmarks.md.
Set DATABASE_URL to measure PostgreSQL; the peer keeps its own SQLite.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

import httpx
import numpy as np

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import Stopwatch, draw_lists, fresh_database
from benchmarks.judging import free_address, served

HITS, CALLS, TASKS = 50_000, 60, 20_000
A_CALL = 1_000
QUERIES_A_HIT = 0.6  # queries of the pool for each HIT
PEER_TOKEN = "0" * 39 + "1"
CONFIG = """<View><Text name="caption" value="$caption"/><Choices name="level" toName="caption">
<Choice value="1"/><Choice value="2"/><Choice value="3"/><Choice value="4"/></Choices></View>"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=HITS, help=f"number of HITs, about (default {HITS:,})")
    parser.add_argument("--calls", type=int, default=CALLS, help=f"calls of each kind (default {CALLS})")
    parser.add_argument("--peer", type=Path, help="environment in which label-studio is installed")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"pairs that the peer stores (default {TASKS:,})")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    options = parser.parse_args()
    os.environ["API_CALLS_PER_MINUTE"] = "1000000"
    with fresh_database():
        from django.db import connection

        total, token = build(options.hits)
        lines = [f"{total:,} judgments of one round, on {connection.vendor}.", ""]
        lines += ["| | ms a call | 95th percentile | answers a second |", "|---|---|---|---|"]
        with served("site") as site, httpx.Client(base_url=f"http://{site.address}/api/v1", timeout=60) as client:
            client.headers["Authorization"] = f"Bearer {token}"
            lines += [ours(client, place, options.calls) for place in places(total)]
        print("\n".join(lines), flush=True)
        if options.peer:
            theirs = peer(options.peer, options.tasks, options.calls)
            print("\n".join(theirs))
            lines += theirs
    if options.write:
        write_tables("api_reading", "\n".join(lines))


def build(hits: int) -> tuple[int, str]:
    """Store the round; return the number of its judgments and a token that may read them."""
    from django.contrib.auth.models import User

    from annotation.models import Judgment
    from benchmarks.fixtures import make_collection
    from benchmarks.large_round import analyse, pool_and_pack, write_judgments
    from console.api.access_tokens import make_token

    clock = Stopwatch()
    with clock.step("collection and lists"):
        collection = make_collection(queries=round(hits * QUERIES_A_HIT))
        draw_lists(collection)
    with clock.step("pool and HITs"):
        made = pool_and_pack(collection)
    with clock.step("judgments"):
        write_judgments(made)
        analyse()
    reader = User.objects.create_superuser("reader")
    return Judgment.objects.count(), make_token(reader, "benchmark", ["judgments:read"])[1]


def places(total: int) -> list[tuple[str, str]]:
    """Return where reading begins: in words, and as ``after``."""
    from dataset.judged.listed_answers import judgments_of
    from hits.models import Round

    rows = judgments_of(Round.objects.get())
    middle, end = (str(rows[at].pk) for at in (total // 2, max(total - 5 * A_CALL, 0)))
    return [("the start", ""), ("the middle", middle), ("near the end", end)]


def ours(client: httpx.Client, place: tuple[str, str], calls: int) -> str:
    """Read parts from a place on, again from it at the end of the list; return a row of the table."""
    words, first = place
    after, seconds = first, []
    for _ in range(calls + 3):
        begun = perf_counter()
        answer = client.get("/rounds/round/judgments", params={"limit": A_CALL, "after": after})
        read = answer.raise_for_status().json()
        if read["next"] is not None:
            seconds.append(perf_counter() - begun)
        after = read["next"] or first
    return row(f"ours, {A_CALL:,} a call, from {words}", seconds[3:], A_CALL)


def row(name: str, seconds: list[float], answers: int) -> str:
    took = np.array(seconds)
    rate = answers * len(took) / took.sum()
    return f"| {name} | {1e3 * np.median(took):,.0f} | {1e3 * np.quantile(took, 0.95):,.0f} | {rate:,.0f} |"


def peer(environment: Path, tasks: int, calls: int) -> list[str]:
    """Have Label Studio serve this number of answers; return its rows of the table."""
    with label_studio(environment) as client:
        project = client.post("/api/projects", json={"title": "pairs", "label_config": CONFIG}).raise_for_status()
        address = f"/api/projects/{project.json()['id']}"
        for first in range(0, tasks, 5_000):
            some = [task(number) for number in range(first, min(first + 5_000, tasks))]
            client.post(f"{address}/import", json=some).raise_for_status()
        pages = [timed(page, client, address, 1 + number % (tasks // A_CALL)) for number in range(calls)]
        exports = [timed(client.get, f"{address}/export?exportType=JSON") for _ in range(3)]
    return [
        row(f"Label Studio, {A_CALL:,} tasks a page, of {tasks:,}", pages, A_CALL),
        row(f"Label Studio, export of all {tasks:,}", exports, tasks),
    ]


def task(number: int) -> dict[str, Any]:
    answer = {
        "from_name": "level",
        "to_name": "caption",
        "type": "choices",
        "value": {"choices": [str(1 + number % 4)]},
    }
    data = {"caption": f"A zebra near a tree, number {number}", "image_id": str(number), "caption_id": str(number)}
    return {"data": data, "annotations": [{"result": [answer]}]}


def page(client: httpx.Client, project: str, number: int) -> None:
    """Read a page of tasks with their annotations."""
    wanted = {"project": project.rpartition("/")[2], "page": number, "page_size": A_CALL, "fields": "all"}
    answer = client.get("/api/tasks", params=wanted).raise_for_status().json()
    assert len(answer["tasks"]) == A_CALL
    assert answer["tasks"][0]["annotations"]


def timed(act: Callable[..., Any], *arguments: object) -> float:
    begun = perf_counter()
    act(*arguments)
    return perf_counter() - begun


@contextmanager
def label_studio(environment: Path) -> Iterator[httpx.Client]:
    """Serve Label Studio with an account of its own, in a temporary folder."""
    port = free_address().rpartition(":")[2]
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "LABEL_STUDIO_BASE_DATA_DIR": folder,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
            "LATEST_VERSION_CHECK": "false",
            "COLLECT_ANALYTICS": "false",
        }
        account = ["--username", "a@example.org", "--password", "benchmark-1", "--user-token", PEER_TOKEN]
        served_at = ["--no-browser", "--internal-host", "127.0.0.1", "--port", port, "--log-level", "ERROR"]
        command = [environment / "bin/label-studio", "start", *served_at, *account]
        others = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        server = subprocess.Popen(command, env=others | settings, stdout=subprocess.DEVNULL)
        try:
            headers = {"Authorization": f"Token {PEER_TOKEN}"}
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=600) as client:
                wait_for(client, server)
                yield client
        finally:
            server.terminate()
            server.wait()


def wait_for(client: httpx.Client, server: subprocess.Popen, seconds: int = 600) -> None:
    until = monotonic() + seconds
    while monotonic() < until and server.poll() is None:
        try:
            if client.get("/api/projects").status_code == 200:
                return
        except httpx.TransportError:
            pass
        sleep(1)
    raise SystemExit("Label Studio does not answer with this account.")


if __name__ == "__main__":
    main()
