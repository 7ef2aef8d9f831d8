"""From an empty site to a released version with its public page, without a terminal, by a person who has never seen the
site."""

import json
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Consent, Judgment, Worker
from hits.models import Round
from simulation.simulated_rounds import simulate_round
from tests.browser import barriers_in_light_and_dark, faults_of, press, wait_for_pictures, width_on_a_phone
from tests.console.browsing import log_in
from tests.corpus.files import line
from tests.factories import make_annotator, make_collection, picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

THINGS = ("zebra", "dog", "kite", "train", "boat", "horse")
PLACES = ("field", "street", "harbour", "garden")
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


class Hand:
    """Counts what a person clicks and fills in."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.fields = page, 0, 0

    def click(self, role: str, name: str | re.Pattern, within: Page | Locator | None = None) -> None:
        (within or self.page).get_by_role(role, name=name).first.click(timeout=120_000)  # the first search compiles
        self.clicks += 1

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label, exact=True).fill(text)
        self.fields += 1


def upload(hand: Hand, files: dict[str, Path]) -> None:
    hand.click("link", "Import a collection")
    hand.fill("Name of the collection", "zoo")
    hand.page.get_by_label("Captions, or a folder", exact=True).set_input_files(files["captions"])
    hand.page.get_by_label("Pictures", exact=True).set_input_files(files["pictures"])
    hand.fields += 2
    hand.click("button", "Upload and look")
    expect(hand.page.get_by_role("heading", name="Are these pictures with their sentences?")).to_be_visible()
    hand.click("button", "Import")
    expect(hand.page.get_by_role("heading", name="zoo")).to_be_visible()


def plan(hand: Hand) -> None:
    page = hand.page
    hand.click("link", "Plan a round")
    hand.click("button", "Pilot of 5 HITs")
    expect(page.get_by_role("heading", name="What does a HIT pay?")).to_be_visible()
    frame = page.frame_locator("iframe.hit")
    expect(frame.get_by_text("in the").first).to_be_visible()
    hand.click("button", "Make the HITs")


def launch(hand: Hand) -> None:
    page = hand.page
    expect(page.get_by_role("heading", name="Before you publish")).to_be_visible(timeout=120_000)
    hand.click("link", re.compile("Publish .* HIT"))
    hand.click("button", re.compile("Publish .* HIT"))
    expect(page.get_by_role("heading", name="Share the join link")).to_be_visible()
    expect(page.get_by_role("link", name="Be the first worker")).to_be_visible()


def release(hand: Hand) -> None:
    page = hand.page
    page.reload()
    hand.click("link", "Close…")
    hand.click("button", "Close the round")
    hand.click("link", "Release a version")
    hand.fill("Authors", "Ada Lovelace")
    hand.click("button", "Continue")
    hand.click("button", re.compile("Release .* for good"))
    expect(page.get_by_text("author = {{Ada Lovelace}}")).to_be_visible()
    hand.click("link", "Publish…")
    hand.click("button", "Publish")


@pytest.mark.slow
def test_a_new_user_comes_from_an_empty_site_to_a_public_version_with_its_citation(page, live_server, files):
    hand = Hand(log_in(page, live_server.url))
    page.goto("/")
    upload(hand, files)
    plan(hand)
    launch(hand)
    made = Round.objects.get()
    # More workers than HITs: a worker judges no pair twice, and a control of one HIT may be a candidate of another.
    simulate_round(made, workers=6, truth="original", through_http=live_server.url, seed=1)
    assert Judgment.objects.count() == made.hits.count() * 18
    assert Consent.objects.count() == Worker.objects.count() == 6
    release(hand)
    page.context.clear_cookies()
    page.goto("/results/zoo-v1/")
    expect(page.get_by_text("Ada Lovelace").first).to_be_visible()
    assert (hand.clicks, hand.fields) == (15, 4)


def test_a_person_rehearses_and_joins_by_the_link(page, phone, live_server):
    make_collection(images=24, pictures=True), make_annotator()
    log_in(page, live_server.url).goto("/plan/?images=8&captions=8&reward=3&step=pay")
    page.get_by_role("button", name="Make the HITs").last.click(timeout=120_000)
    page.get_by_role("link", name="Judge a HIT yourself").click()
    for place in range(1, 19):
        expect(page.get_by_text(f"{place} of 18", exact=True)).to_be_visible()
        press(page, "2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your answers were not stored.")).to_be_visible()
    page.get_by_role("link", name="Publish…").click()
    page.get_by_role("button", name=re.compile("Publish .* HIT")).click()
    link = page.locator(".join code").text_content()
    assert page.get_by_role("link", name="Be the first worker").get_attribute("href") == link
    assert barriers_in_light_and_dark(page) == []
    phone.goto(urlsplit(link).path)
    phone.get_by_role("checkbox").check()
    phone.get_by_role("button", name="Agree and join").click()
    phone.get_by_role("button", name="Judge a HIT").click()
    expect(phone.get_by_text("1 of 18", exact=True)).to_be_visible()
    wait_for_pictures(phone)
    phone.get_by_role("radio", name=re.compile("100% YES")).first.check()


def test_the_estimate_follows_what_is_typed_and_the_task_changes_the_fields(page, live_server):
    make_collection(images=24, pictures=True), make_annotator()
    faults = faults_of(page)
    log_in(page, live_server.url).goto("/plan/?step=queries")
    page.get_by_label("Query images").fill("4")
    page.get_by_label("Query captions").fill("4")
    expect(page.locator("#estimate").get_by_text("40", exact=True)).to_be_visible()
    expect(page.get_by_label("Query captions")).to_be_focused()
    page.goto("/plan/?step=judging")
    page.get_by_label("Question").focus()
    page.get_by_label("Question").select_option("checkbox")
    expect(page.get_by_label("HIT", exact=True)).to_have_count(0)
    expect(page.get_by_label("Votes for each pair")).to_have_attribute("placeholder", "3")
    expect(page.get_by_label("Question")).to_be_focused()
    assert barriers_in_light_and_dark(page) == []
    assert width_on_a_phone(page) <= 390
    assert faults == []


def test_without_scripts_a_button_shows_the_estimate_and_the_sheet(open_page, live_server):
    make_collection(images=24, pictures=True), make_annotator()
    page = log_in(open_page(java_script_enabled=False), live_server.url)
    page.goto("/plan/?step=queries")
    page.get_by_label("Query images").fill("4")
    page.get_by_role("button", name="Show the estimate").click()
    expect(page.locator("#estimate").get_by_text("260", exact=True)).to_be_visible()
    page.get_by_label("Query images").press("Enter")
    expect(page.get_by_role("heading", name="Who proposes pairs?")).to_be_visible()
