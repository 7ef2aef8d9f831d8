"""Workers of ``benchmarks.judging`` in a process of their own: plain HTTP over kept connections, no think time."""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from time import monotonic, perf_counter
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

SIZE = 800  # of the pictures that a page shows, in pixels
PICTURE = re.compile(rf'src="([^"]+size={SIZE})"')
PAIR = re.compile(r'width="(\d+)" height="(\d+)".+?id="sentence-(\d+)"[^>]*>([^<]+)<', re.DOTALL)
WIDTH, HEIGHT, ROW = 300, 200, 400  # of the first picture; the next is a pixel wider, and after ROW of them higher
ACTION = re.compile(r'id="judging" action="([^"]+)"')
HEADERS = {"Host": "127.0.0.1", "Accept-Encoding": "gzip"}
FORM = HEADERS | {"Content-Type": "application/x-www-form-urlencoded"}


class Visitor:
    """One worker with their connection; ``times`` in seconds, of every request."""

    def __init__(self, site: str) -> None:
        self.connection = HTTPConnection(site, timeout=30)
        self.times: list[float] = []
        self.failed = 0
        self.hits = 0

    def ask(
        self, path: str, fields: Mapping[str, str | list[str]] | None = None, *, picture: bool = False
    ) -> tuple[str, str]:
        """Send one request. Returns where it leads, or "", and the page."""
        begun = perf_counter()
        body = None if fields is None else urlencode(fields, doseq=True)
        headers = HEADERS | {"Accept-Encoding": "identity"} if picture else HEADERS if body is None else FORM
        try:
            self.connection.request("GET" if body is None else "POST", path, body, headers)
            answer = self.connection.getresponse()
            content = answer.read()
        except OSError:
            self.failed += 1
            self.connection.close()
            return "", ""
        self.times.append(perf_counter() - begun)
        self.failed += answer.status >= 400
        leads = answer.headers.get("Location", "")
        if picture:  # To read it as text would take longer than to send it.
            return leads, ""
        return leads, unzip(content) if answer.headers.get("Content-Encoding") == "gzip" else content.decode()

    def follow(self, path: str, fields: dict[str, str] | None = None) -> tuple[str, str]:
        """Send one request and those that it leads to. Returns the last address and its page."""
        leads, page = self.ask(path, fields)
        while leads:
            path = urlsplit(leads).path
            leads, page = self.ask(path)
        return path, page

    def judge(self, take: str, together: int, pictures: int) -> bool:
        """Take a HIT, answer it, saving every ``together`` answers, and submit it. Return False if no HIT is left."""
        path, page = self.follow(take, {})
        action = ACTION.search(page)
        if action is None:
            return False
        path = action[1]
        levels = levels_of(page)
        if pictures:
            for address in PICTURE.findall(page):
                self.ask(address.replace("&amp;", "&"), picture=True)
        drafts = [urlencode({"place": place, f"level-{place}": level}) for place, level in levels.items()]
        for end in range(together, len(drafts) + 1, together) if together else ():
            self.ask(f"{path}draft/", {"saving": drafts[end - together : end]})
        answers = {f"level-{place}": level for place, level in levels.items()}
        _, receipt = self.follow(path, answers | {"active_seconds": "60"})
        self.hits += "receipt" in receipt.lower()
        return True


def picture_size(number: int) -> tuple[int, int]:
    return WIDTH + number % ROW, HEIGHT + number // ROW


def levels_of(page: str) -> dict[str, str]:
    """Return the level at each place: 1 where the sentence names the number of the picture, known by its size."""
    shown = {place: (int(width), int(height), words) for width, height, place, words in PAIR.findall(page)}
    return {
        place: "1" if words.startswith(f"Thing {(height - HEIGHT) * ROW + width - WIDTH} ") else "4"
        for place, (width, height, words) in shown.items()
    }


def unzip(content: bytes) -> str:
    import zlib

    return zlib.decompress(content, 31).decode()


class Work(NamedTuple):
    """What a crowd did: HITs with a receipt, failed requests, and seconds: in all, and of each request."""

    hits: int
    failed: int
    seconds: float
    times: list[float]


def work(site: str, doors: list[str], seconds: float, together: int, pictures: int) -> Work:
    """Have a worker for each of ``doors`` (where they take HITs) work at ``site`` (HOST:PORT) for ``seconds``."""
    until = monotonic() + seconds

    def one(door: str) -> Visitor:
        visitor = Visitor(site)
        while monotonic() < until and visitor.judge(door, together, pictures):
            pass
        visitor.connection.close()
        return visitor

    begun = monotonic()
    with ThreadPoolExecutor(len(doors)) as threads:
        visitors = list(threads.map(one, doors))
    return Work(
        sum(visitor.hits for visitor in visitors),
        sum(visitor.failed for visitor in visitors),
        monotonic() - begun,
        [time for visitor in visitors for time in visitor.times],
    )


def join(site: str, path: str, many: int) -> list[str]:
    """Join a round as new workers. Returns where each takes their HITs."""
    doors = []
    for _ in range(many):
        visitor = Visitor(site)
        _, page = visitor.ask(path)
        fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]+)"', page))
        home, _ = visitor.follow(path, {"consent": "yes", **fields})
        doors.append(f"{home}take/")
        visitor.connection.close()
    return doors
