"""Screenshots, light and dark, into docs/images: python docs/screenshots.py [NAME ...]

It serves the demo of `make demo`, and a simulated round over COCO's captions where the public files are in
../shared/data, and opens each page in Chromium as a member of staff or as a worker.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Literal
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
WIDTH, HEIGHT = 1280, 860
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PLACES = re.compile(
    r"Judge a HIT +(?P<join>\S+)\nConsole +(?P<site>\S+) +user (?P<user>\S+), password (?P<password>\S+)"
)

DATA = ROOT.parent / "shared" / "data"
COCO_VAR, COCO_PORT = ROOT / "var" / "coco", 8765
LOGIN = {"user": "admin", "password": "screenshots only"}  # of docs/coco_round.py

Places = Mapping[str, str]
"""Where the site is, its login, and for the demo its join link."""

STAFF = {
    "home": ["/"],
    "round": ["/rounds/demo-round/"],
    "pairs": ["/rounds/demo-round/pairs/?verdict=yes"],
    "query": ["/rounds/demo-round/pairs/?verdict=yes", "a.pair", "#trail a.button", "main a[href^='/images/']"],
    "review": ["/workers/", "main tbody a", "main tbody a[href^='/review/']"],
    "version": ["/versions/demo-v2/"],
    "leaderboard": ["/collections/demo/leaderboard/"],
}
"""By name: the address to start at, and the links to follow from there (the first that each selector finds)."""
COCO = {
    "coco-round": ["/rounds/coco-round/"],
    "coco-pool": ["/pools/coco-pool/"],
    "coco-levels": ["/rounds/coco-round/results/?show=annotators"],
    "coco-positives": ["/versions/coco-v1/trust/?show=positives"],
    "coco-ledger": ["/rounds/coco-round/money/"],
}
"""The same of the round over COCO's captions. Pages of single pairs are left out: there are no pictures to show."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["judging", *STAFF, *COCO]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names)} (default: all)")
    wanted = parser.parse_args().names or names
    if unknown := set(wanted) - set(names):
        parser.error(f"Unknown page {', '.join(sorted(unknown))}; choose from {', '.join(names)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        if set(wanted) - set(COCO):
            with demo_site() as places:
                for theme in THEMES:
                    take(browser, theme, wanted, STAFF, places)
        if set(wanted) & set(COCO) and not DATA.is_dir():
            print(f"Skipped {', '.join(COCO)}: the public files of docs/papers.md are not in {DATA}.")
        elif set(wanted) & set(COCO):
            with coco_site() as places:
                for theme in THEMES:
                    take(browser, theme, wanted, COCO, places)


@contextmanager
def demo_site() -> Iterator[Places]:
    """Serve the demo; yields its join link and its login."""
    of_demo = {"VAR_DIR": str(ROOT / "var" / "demo"), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "manage.py", "demo"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | of_demo, stdout=subprocess.PIPE, text=True) as demo:
        try:
            places = read_places(demo).groupdict()
            wait_for(places["site"])
            yield places
        finally:
            demo.terminate()


@contextmanager
def coco_site() -> Iterator[Places]:
    """Make the round over COCO's captions, unless it was made before, and serve it with a worker that makes charts."""
    site = f"http://127.0.0.1:{COCO_PORT}"
    of_coco = {"VAR_DIR": str(COCO_VAR), "DATABASE_URL": "", "REDIS_URL": "", "SITE_URL": site}
    subprocess.run([sys.executable, "docs/coco_round.py", str(DATA)], cwd=ROOT, env=os.environ | of_coco, check=True)
    command = ["gunicorn", "--config", "config/gunicorn.py", "--bind", f"127.0.0.1:{COCO_PORT}"]
    works = ["celery", "-A", "config", "worker", "--concurrency", "1"]
    with (
        subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, env=os.environ | of_coco) as server,
        subprocess.Popen([sys.executable, "-m", *works], cwd=ROOT, env=os.environ | of_coco) as worker,
    ):
        try:
            wait_for(site)
            yield {"site": site, **LOGIN}
        finally:
            server.terminate()
            worker.terminate()


def wait_for(site: str) -> None:
    """Wait until the site answers, for a minute at most."""
    for _ in range(120):
        try:
            urlopen(f"{site.rstrip('/')}/healthz", timeout=5)  # noqa: S310 our own address
            return
        except OSError:
            sleep(0.5)
    sys.exit(f"{site} does not answer.")


def read_places(demo: "subprocess.Popen[str]") -> re.Match[str]:
    printed = ""
    for line in demo.stdout or ():
        printed += line
        if found := PLACES.search(printed):
            return found
    sys.exit(f"The demo ended before it served:\n{printed}")


def take(
    browser: Browser,
    theme: Literal["light", "dark"],
    wanted: list[str],
    pages: Mapping[str, list[str]],
    places: Places,
) -> None:
    """Take the wanted screenshots of a site's pages in one theme."""
    context = browser.new_context(color_scheme=theme, viewport={"width": WIDTH, "height": HEIGHT})
    page = context.new_page()
    if "judging" in wanted and "join" in places:
        open_hit(page, places["join"])
        keep(page, "judging", theme)
    page.goto(places["site"])
    page.fill("[name=username]", places["user"])
    page.fill("[name=password]", places["password"])
    page.press("[name=password]", "Enter")
    page.wait_for_load_state("networkidle")
    for name in pages:
        if name in wanted:
            address, *links = pages[name]
            answer = page.goto(places["site"].rstrip("/") + address, wait_until="networkidle")
            if answer is None or not answer.ok:
                sys.exit(f"{address} answered {answer and answer.status}.")
            for link in links:
                page.click(link)
                page.wait_for_load_state("networkidle")
            page.wait_for_selector(".waiting", state="detached", timeout=600_000)  # a chart that a job makes
            keep(page, name, theme)
    context.close()


def open_hit(page: Page, join: str) -> None:
    """Join, pass the test, take a HIT and answer its first pair."""
    page.goto(join)
    page.check("[name=consent]")
    page.click("text=Agree and join")
    page.click("text=Take the test")
    page.wait_for_load_state("networkidle")
    for key in (*"1414", "Enter"):  # right: the demo draws the same test every time
        page.keyboard.press(key)
    page.click("text=Judge a HIT")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("1")
    page.wait_for_load_state("networkidle")


def keep(page: Page, name: str, theme: str) -> None:
    """Store the screenshot in 256 colours, a third of its size."""
    path = IMAGES / f"{name}-{theme}.png"
    page.screenshot(path=path)
    Image.open(path).quantize(256).save(path, optimize=True)
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
