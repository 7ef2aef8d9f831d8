"""What the client does when the network or the site does not answer as it should."""

import json
import sys
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from counterpart_client import ApiError, Client, ClientError, JobFailed

URL = "https://site.example"
TOKEN = "cp_" + "a" * 57
PROBLEM = {"content-type": "application/problem+json"}
JOB = {
    **{"id": "018f0000-0000-7000-8000-000000000000", "url": "", "title": "Plan first", "state": "done", "step": ""},
    **{"done": 2, "total": 2, "message": "Planned.", "created_at": "2026-11-01T00:00:00Z"},
    "finished_at": "2026-11-01T00:00:01Z",
}
CONTENT = b"image,caption\n" * 1000
DIGEST = sha256(CONTENT).hexdigest()


def refused(status: int, detail: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"detail": detail}, headers={**PROBLEM, **headers})


class Site:
    """Answers calls with these answers, one after the other; an exception is raised."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.calls.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def client(self) -> Client:
        return Client(URL, TOKEN, transport=httpx.MockTransport(self))


class CutOff(httpx.SyncByteStream):
    """A body whose connection breaks after some bytes."""

    def __init__(self, sent: bytes) -> None:
        self.sent = sent

    def __iter__(self):
        yield self.sent
        raise httpx.ReadError("cut off")


@pytest.fixture(autouse=True)
def waits(monkeypatch) -> list[float]:
    """How long the client has waited."""
    waited: list[float] = []
    for module in ("http_calls", "client"):
        monkeypatch.setattr(f"counterpart_client.{module}.sleep", waited.append)
    return waited


def test_a_call_whose_connection_breaks_is_sent_again_with_the_same_key():
    site = Site(httpx.ReadTimeout("late"), httpx.ConnectError("gone"), httpx.Response(202, json=JOB))
    assert site.client.close_round("first").title == "Plan first"
    first, second, third = site.calls
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] == third.headers["Idempotency-Key"]


def test_another_call_has_another_key():
    site = Site(*(httpx.Response(202, json=JOB) for _ in range(2)))
    client = site.client
    client.close_round("first")
    client.close_round("first")
    assert len({call.headers["Idempotency-Key"] for call in site.calls}) == 2


def test_the_site_says_how_long_to_wait(waits):
    busy, running = refused(429, "Slowly.", **{"Retry-After": "17"}), refused(409, "Runs.", **{"Retry-After": "2"})
    site = Site(busy, running, httpx.Response(202, json=JOB))
    site.client.close_round("first")
    assert waits == [17, 2]


def test_the_waits_for_a_busy_site_grow(waits):
    site = Site(*(refused(503, "The site is busy.") for _ in range(6)))
    with pytest.raises(ApiError, match="The site is busy"):
        site.client.me()
    assert len(waits) == 5
    assert all(later > earlier for earlier, later in zip(waits, waits[1:], strict=False))


def test_a_wait_of_a_quarter_of_an_hour_is_told_instead(waits):
    site = Site(refused(429, "Too many wrong tokens. Wait 15 minutes.", **{"Retry-After": "900"}))
    with pytest.raises(ApiError, match="Wait 15 minutes"):
        site.client.me()
    assert waits == []


def test_a_refusal_is_the_sites_sentence_and_is_not_tried_again():
    site = Site(refused(409, "Round first is not open: it is draft."))
    with pytest.raises(ApiError, match="not open: it is draft") as caught:
        site.client.close_round("first")
    assert (caught.value.status, len(site.calls)) == (409, 1)


def test_a_site_that_never_answers_is_named():
    site = Site(*(httpx.ConnectError("refused") for _ in range(6)))
    with pytest.raises(ClientError, match=r"site\.example/ .*: refused"):
        site.client.me()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, html="<h1>Not found</h1>"),
        httpx.Response(200, html="<h1>Welcome</h1>"),
        httpx.Response(301, headers={"Location": "https://other.example"}),
    ],
)
def test_an_address_of_another_site_is_told(answer):
    with pytest.raises(ClientError, match="api/v1/me does not answer"):
        Site(answer).client.me()


@pytest.mark.parametrize(
    ("url", "token", "told"),
    [("site.example", TOKEN, "write it as https://"), (URL, "secret", "begins with cp_"), (URL, "cp_a\nb", "cp_")],
)
def test_an_address_or_token_that_is_none_is_refused_at_once(url, token, told):
    with pytest.raises(ClientError, match=told):
        Client(url, token)


def test_a_list_is_read_in_parts_when_they_are_needed():
    parts = [{"results": [JOB, JOB], "next": "2"}, {"results": [JOB], "next": None}]
    site = Site(*(httpx.Response(200, json=part) for part in parts))
    jobs = site.client.jobs(state="done")
    next(jobs)
    assert len(site.calls) == 1
    assert len(list(jobs)) == 2
    assert [dict(call.url.params)["after"] for call in site.calls] == ["", "2"]
    assert {call.url.params["state"] for call in site.calls} == {"done"}


def test_a_job_is_asked_for_until_it_has_ended(waits):
    running = JOB | {"state": "running", "finished_at": None, "step": "searching", "done": 1}
    site = Site(httpx.Response(202, json=running))
    job = site.client.close_round("first")
    site.answers += [httpx.Response(200, json=running, headers={"Retry-After": "3"}), httpx.Response(200, json=JOB)]
    assert site.client.wait(job, progress=False).state == "done"
    assert waits == [3]


def test_a_failed_job_is_raised_with_its_message():
    failed = JOB | {"state": "failed", "message": "There are no captions."}
    site = Site(*(httpx.Response(200, json=failed) for _ in range(2)))
    client = site.client
    with pytest.raises(JobFailed, match="There are no captions") as caught:
        client.wait(client.job(JOB["id"]), progress=False)
    assert caught.value.job.state == "failed"


def test_progress_is_a_line_where_there_is_no_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    running = JOB | {"state": "running", "finished_at": None, "step": "searching", "done": 1000, "total": 4000}
    answers = [httpx.Response(200, json=running, headers={"Retry-After": "3"}), httpx.Response(200, json=JOB)]
    site = Site(httpx.Response(200, json=running), *answers)
    client = site.client
    client.wait(client.job(JOB["id"]))
    assert "searching 1,000 of 4,000" in capsys.readouterr().err


def test_a_download_that_is_cut_off_goes_on_from_there(tmp_path):
    rest = httpx.Response(206, content=CONTENT[5000:])
    site = Site(httpx.Response(200, stream=CutOff(CONTENT[:5000])), rest)
    target = site.client.fetch("/versions/v1/files/pairs.csv", tmp_path / "pairs.csv", DIGEST)
    assert target.read_bytes() == CONTENT
    assert (site.calls[1].headers["Range"], site.calls[1].headers["If-Range"]) == ("bytes=5000-", f'"{DIGEST}"')
    assert [one.name for one in tmp_path.iterdir()] == ["pairs.csv"]


def test_a_download_begins_again_where_the_site_sends_the_whole(tmp_path):
    (tmp_path / "pairs.csv.part").write_bytes(b"of another version")
    site = Site(httpx.Response(200, content=CONTENT))
    assert site.client.fetch("/f", tmp_path / "pairs.csv", DIGEST).read_bytes() == CONTENT


def test_a_download_whose_end_is_there_is_only_compared(tmp_path):
    (tmp_path / "pairs.csv.part").write_bytes(CONTENT)
    site = Site(refused(416, "The file has 14,000 bytes."))
    assert site.client.fetch("/f", tmp_path / "pairs.csv", DIGEST).read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_downloaded_again(tmp_path):
    (tmp_path / "pairs.csv").write_bytes(CONTENT)
    assert Site().client.fetch("/f", tmp_path / "pairs.csv", DIGEST).read_bytes() == CONTENT


def test_a_file_with_another_checksum_is_refused(tmp_path):
    site = Site(httpx.Response(200, content=CONTENT[:-1] + b"!"))
    with pytest.raises(ClientError, match=r"pairs\.csv came with"):
        site.client.fetch("/f", tmp_path / "pairs.csv", DIGEST)
    assert list(tmp_path.iterdir()) == []


def sent(**change: object) -> httpx.Response:
    answer = {"id": f"{DIGEST}-pairs.csv", "sha256": DIGEST, "size": len(CONTENT), "put": None}
    return httpx.Response(201, json=answer | change)


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """A large file."""
    monkeypatch.setattr("counterpart_client.http_calls.LARGE", len(CONTENT))
    path = tmp_path / "pairs.csv"
    path.write_bytes(CONTENT)
    return path


def test_a_small_file_is_sent_at_once(tmp_path):
    (tmp_path / "pairs.csv").write_bytes(CONTENT)
    site = Site(sent())
    site.client.upload(tmp_path / "pairs.csv")
    assert (site.calls[0].content, dict(site.calls[0].url.params)) == (CONTENT, {"name": "pairs.csv"})


def test_a_large_file_is_sent_to_a_site_without_s3_with_its_checksum(file):
    site = Site(refused(409, "This site has no S3."), httpx.ReadError("cut off"), sent())
    assert site.client.upload(file).sha256 == DIGEST
    first, second = site.calls[1:]
    assert first.content == second.content == CONTENT
    assert first.headers["Content-Digest"] == second.headers["Content-Digest"]
    assert (
        first.headers["Idempotency-Key"]
        == second.headers["Idempotency-Key"]
        != site.calls[0].headers["Idempotency-Key"]
    )


def test_a_large_file_is_sent_to_s3_without_the_token(file):
    put = {"url": "https://s3.example/b?sign=1", "headers": {"x-amz-checksum-sha256": "c", "Content-Length": "14000"}}
    site = Site(sent(put=put), httpx.Response(200))
    assert site.client.upload(file).sha256 == DIGEST
    (asked, stored) = site.calls
    assert (asked.url.params["size"], asked.content) == ("14000", b"")
    assert (str(stored.url), stored.content) == (put["url"], CONTENT)
    assert "Authorization" not in stored.headers
    assert stored.headers["x-amz-checksum-sha256"] == "c"


def test_money_is_sent_as_it_is_written():
    site = Site(httpx.Response(202, json=JOB))
    site.client.publish_round("first", ceiling=Decimal("80.10"), channel="browser")
    assert json.loads(site.calls[0].content) == {"ceiling": "80.10", "channel": "browser"}
