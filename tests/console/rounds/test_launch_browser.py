"""From files on a researcher's disk to a worker's answer, in a real browser: upload, annotators, plan, pool, pay, an
audit instead of all pairs, rehearsal, publication, join link."""

import json
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Draft
from hits.models import Round
from tests.browser import barriers, press
from tests.conftest import client_of
from tests.corpus.files import line
from tests.factories import picture

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

THINGS = ("zebra", "dog", "kite", "train", "boat", "horse")
PLACES = ("field", "street", "harbour", "garden")
PACK = re.compile("Pack .* pairs")
COLOURS = ("seagreen", "peru", "slateblue", "tomato", "goldenrod", "teal")


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    """24 captioned pictures, as a researcher has them: JSON lines and a zip file."""
    scenes = [(thing, place) for thing in THINGS for place in PLACES]
    captions, pictures = tmp_path / "captions.jsonl", tmp_path / "pictures.zip"
    rows = [
        line(caption=2 * n + twin, image=n, text=f"{begin} {thing} in the {place}")
        for n, (thing, place) in enumerate(scenes)
        for twin, begin in enumerate(("a", "there is a"))
    ]
    captions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with zipfile.ZipFile(pictures, "w") as archive:
        for n in range(len(scenes)):
            archive.writestr(f"{n}.jpg", picture(COLOURS[n % 6], (240 + 10 * n, 320)))
    return {"captions": captions, "pictures": pictures}


def log_in(page: Page) -> None:
    client_of("researcher")
    page.goto("/")
    page.get_by_label("Username").fill("researcher")
    page.get_by_label("Password").fill("a long passphrase")
    page.get_by_role("button", name="Log in").click()


def upload(page: Page, files: dict[str, Path]) -> None:
    page.get_by_role("link", name="Collections", exact=True).first.click()
    page.get_by_role("link", name="Import a collection").click()
    page.get_by_label("Name of the collection").fill("zoo")
    page.get_by_label("Format of the captions").select_option("jsonl")
    page.get_by_role("button", name="Upload and import").click()
    expect(page.get_by_text("Choose a file of captions")).to_be_visible()
    expect(page.get_by_label("Name of the collection")).to_have_value("zoo")
    page.get_by_label("Captions", exact=True).set_input_files(files["captions"])
    page.get_by_label("Pictures", exact=True).set_input_files(files["pictures"])
    page.get_by_role("button", name="Upload and import").click()
    page.get_by_role("link", name="Collection zoo").click()


def sample(page: Page) -> None:
    page.get_by_role("link", name="Sample queries").click()
    page.get_by_label("Name of the sample").fill("few")
    page.get_by_label("Query images to draw").fill("100")
    page.get_by_label("Query captions to draw").fill("10")
    page.get_by_role("button", name="Make the sample").click()
    expect(page.get_by_text("Cannot draw 100 images")).to_be_visible()
    expect(page.get_by_label("Name of the sample")).to_have_value("few")
    page.get_by_label("Query images to draw").fill("10")
    page.get_by_role("button", name="Make the sample").click()
    expect(page.get_by_text("The sample few is made")).to_be_visible()


def add_annotator(page: Page, name: str, kind: str) -> None:
    page.get_by_role("link", name="Annotators", exact=True).first.click()
    page.get_by_role("link", name="Add an annotator").click()
    page.get_by_role("link", name=kind, exact=True).click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add this annotator").click()
    expect(page.get_by_text(f"Annotator {name} is added")).to_be_visible()


def sees_a_picture(page: Page, selector: str) -> None:
    first = page.locator(selector).first
    first.scroll_into_view_if_needed()
    page.wait_for_function("image => image.naturalWidth > 0", arg=first.element_handle())


def make_pool(page: Page) -> None:
    page.get_by_role("link", name="Rounds", exact=True).first.click()
    page.get_by_role("link", name="Plan a round").click()
    page.get_by_label("Name", exact=True).fill("pilot")
    page.get_by_label("Queries", exact=True).select_option("few")
    page.get_by_label("words").check()
    page.get_by_label("letters").check()
    page.get_by_text("Advanced").click()
    page.get_by_label("Control depth").fill("8")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("at most 200; what annotators agree on is in it once")).to_be_visible()
    expect(page.get_by_text("--annotators letters,words")).to_be_visible()
    page.get_by_role("button", name="Make the pool first").click(timeout=120_000)  # the first search compiles
    page.get_by_role("link", name="Pool pilot-pool").click()
    sees_a_picture(page, ".lines img")


def pack(page: Page) -> None:
    page.get_by_role("link", name="3. HITs and pay").click()
    page.get_by_label("Reward").fill("0.10")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("$2.50 would reach it")).to_be_visible()
    page.get_by_label("Reward").fill("2.50")
    page.get_by_label("Ceiling").fill("1")
    page.get_by_role("button", name=PACK).click()
    expect(page.get_by_text("The rewards alone cost $15.00")).to_be_visible()
    expect(page.get_by_label("Reward")).to_have_value("2.50")
    page.get_by_label("Ceiling").fill("100")
    page.get_by_label("Pairs to judge").select_option("audit")
    page.get_by_label("Audit share").fill("0.5")
    page.get_by_role("button", name=PACK).click()
    page.get_by_role("link", name="Round pilot").click()


def rehearse(page: Page) -> None:
    page.get_by_role("link", name="Look at a HIT").click()
    page.get_by_role("link", name="5. Rehearse as a worker").click()
    for place in range(1, 19):
        expect(page.get_by_text(f"{place} of 18", exact=True)).to_be_visible()
        press(page, "2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("None of your answers was stored.")).to_be_visible()


def judge_a_pair(worker: Page, link: str) -> None:
    worker.goto(urlsplit(link).path)
    worker.get_by_role("checkbox").check()
    worker.get_by_role("button", name="Agree and start").click()
    worker.get_by_role("button", name="Judge a HIT").click()
    sees_a_picture(worker, "img")
    worker.get_by_role("radio", name=re.compile("100% YES")).first.check()
    expect(worker.get_by_text("saved", exact=True)).to_be_visible()


def test_a_round_comes_from_uploaded_files_and_a_worker_judges_it(page, phone, files):
    log_in(page)
    upload(page, files)
    sample(page)
    add_annotator(page, "words", "overlap")
    add_annotator(page, "letters", "overlap")
    make_pool(page)
    pack(page)
    rehearse(page)
    page.get_by_role("link", name="6. Publish").click()
    made = Round.objects.get()
    hits = made.hits.count()
    assert made.summary["judge"] == {"judge": "audit", "share": 0.5, "greedy": False, "policy": 1}
    assert hits < 6  # as all pairs would be
    page.get_by_role("button", name=f"Publish {hits} HITs for ${2.5 * hits:.2f}").click()
    expect(page.get_by_text("Round pilot is open")).to_be_visible()
    assert barriers(page) == []  # a message included
    judge_a_pair(phone, page.locator(".join code").text_content())
    assert (Draft.objects.get().level, Round.objects.get().state) == (1, "open")
