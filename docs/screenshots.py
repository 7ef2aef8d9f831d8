"""Screenshots of the demo site, light and dark, into docs/images: python docs/screenshots.py [NAME ...]

It runs and serves the demo of `make demo`, and opens each page in Chromium as a member of staff or as a worker.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

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

STAFF = {
    "home": ["/"],
    "round": ["/rounds/demo-round/"],
    "pairs": ["/rounds/demo-round/pairs/?verdict=yes"],
    "query": ["/rounds/demo-round/pairs/?verdict=yes", "a.pair", "main a[href^='/images/']"],
    "review": ["/review/?state=all", "main tbody a"],
    "version": ["/versions/demo-v2/"],
    "leaderboard": ["/collections/demo/leaderboard/"],
}
"""By name: the address to start at, and the links to follow from there (the first that each selector finds)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["judging", *STAFF]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names)} (default: all)")
    wanted = parser.parse_args().names or names
    if unknown := set(wanted) - set(names):
        parser.error(f"There is no page {', '.join(sorted(unknown))}; choose from {', '.join(names)}.")
    with demo_site() as places, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for theme in THEMES:
            take(browser, theme, wanted, places)


@contextmanager
def demo_site() -> Iterator[re.Match[str]]:
    """Serve the demo; yields its join link and its login."""
    of_demo = {"VAR_DIR": str(ROOT / "var" / "demo"), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "manage.py", "demo"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | of_demo, stdout=subprocess.PIPE, text=True) as demo:
        try:
            yield read_places(demo)
        finally:
            demo.terminate()


def read_places(demo: "subprocess.Popen[str]") -> re.Match[str]:
    told = ""
    for line in demo.stdout or ():
        told += line
        if found := PLACES.search(told):
            return found
    sys.exit(f"The demo ended before it served:\n{told}")


def take(browser: Browser, theme: Literal["light", "dark"], wanted: list[str], places: re.Match[str]) -> None:
    """Take the wanted screenshots in one theme."""
    context = browser.new_context(color_scheme=theme, viewport={"width": WIDTH, "height": HEIGHT})
    page = context.new_page()
    if "judging" in wanted:
        open_hit(page, places["join"])
        keep(page, "judging", theme)
    page.goto(places["site"])
    page.fill("[name=username]", places["user"])
    page.fill("[name=password]", places["password"])
    page.press("[name=password]", "Enter")
    page.wait_for_load_state("networkidle")
    for name in STAFF:
        if name in wanted:
            address, *links = STAFF[name]
            answer = page.goto(places["site"].rstrip("/") + address, wait_until="networkidle")
            if answer is None or not answer.ok:
                sys.exit(f"{address} answered {answer and answer.status}.")
            for link in links:
                page.click(link)
                page.wait_for_load_state("networkidle")
            keep(page, name, theme)
    context.close()


def open_hit(page: Page, join: str) -> None:
    """Join, take a HIT and answer its first pair."""
    page.goto(join)
    page.check("[name=consent]")
    page.click("text=Agree and start")
    page.click("text=Judge a HIT")
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
