"""The whole story in a browser: from an empty site to a version that can be cited, with a reviewer in it."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from PIL import Image as Picture
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from hits.models import Round
from simulation.simulated_rounds import simulate_round
from tests.browser import faults_of, press
from tests.console.browsing import log_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COLOURS = ("red", "green", "blue", "yellow", "black", "white", "orange", "purple", "brown", "pink", "grey", "cyan")


def zip_of_pictures() -> dict[str, object]:
    """An upload of pictures of one colour each, with a table of two captions each."""
    archive = BytesIO()
    with ZipFile(archive, "w") as files:
        lines = ["image,caption"]
        for colour in COLOURS:
            picture = BytesIO()
            Picture.new("RGB", (64, 48), colour).save(picture, "JPEG")
            files.writestr(f"{colour}.jpg", picture.getvalue())
            lines += [f"{colour}.jpg,A {colour} card", f"{colour}.jpg,A card that is {colour} all over"]
        files.writestr("captions.csv", "\n".join(lines))
    return {"name": "photos.zip", "mimeType": "application/zip", "buffer": archive.getvalue()}


class Person:
    """A person at a page, whose clicks and typed fields are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.typed = 0

    def click(self, name: str, *, role: str = "button") -> None:
        self.page.get_by_role(role, name=name).first.click()
        self.page.wait_for_load_state()
        self.clicks += 1

    def follow(self, name: str) -> None:
        self.click(name, role="link")

    def type(self, label: str, text: str) -> None:
        self.page.get_by_label(label).first.fill(text)
        self.typed += 1


def import_and_publish(person: Person) -> None:
    person.page.goto("/")
    person.follow("Import a collection")
    person.type("Name of the collection", "photos")
    person.page.get_by_label("Captions, or a folder").set_input_files(zip_of_pictures())
    person.clicks += 1
    person.click("Upload and look")
    person.click("Import")
    person.follow("Plan a round")
    person.click("As ECCV Caption")
    person.click("Make the HITs")
    person.follow("Publish 9 HITs")
    person.click("Publish 9 HITs")
    expect(person.page.get_by_role("heading", name="Share the join link")).to_be_in_viewport()


def judge_without_looking(person: Person) -> None:
    """Give the same level to every pair of a HIT, as the first worker."""
    worker = person.page
    worker.get_by_role("link", name="Be the first worker").click()
    worker.get_by_role("checkbox").check()
    worker.get_by_role("button", name="Agree and join").click()
    worker.get_by_role("button", name="Judge a HIT").click()
    worker.wait_for_url("**/task/**")
    press(worker, "1" * 18)
    worker.get_by_role("button", name="Submit 18 answers").click()
    worker.wait_for_url("**/receipt/")


def exclude_the_flagged_set(reviewer: Person) -> None:
    reviewer.page.goto("/")
    reviewer.follow("Inbox")
    reviewer.follow("Start with the first")
    expect(reviewer.page.locator(".exhibit")).to_have_count(18)
    reviewer.page.locator("#reason, [name=reason]").first.fill("The same level for every pair.")
    reviewer.click("Exclude, but pay")
    expect(reviewer.page.get_by_role("main")).to_contain_text("No flagged work waits.")


def close_and_release(person: Person) -> None:
    person.page.goto("/rounds/photos-1/")
    person.follow("Close…")
    person.click("Close the round")
    person.follow("Release a version")
    person.type("Title", "Cards with all their captions")
    person.type("Authors", "A. Researcher")
    person.click("Continue")
    person.click("Release photos-v1 for good")
    expect(person.page.get_by_role("heading", name="Cards with all their captions")).to_be_visible()
    person.follow("Publish…")
    person.page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    person.clicks += 1


def test_an_empty_site_leads_to_a_cited_public_version_in_16_clicks_and_6_fields(page, live_server, db, settings):
    settings.SITE_URL = live_server.url
    faults = faults_of(page)
    person = Person(log_in(page, live_server.url))
    import_and_publish(person)
    judge_without_looking(person)
    reviewer = Person(page)
    exclude_the_flagged_set(reviewer)
    assert reviewer.clicks <= 3
    simulate_round(Round.objects.get(), workers=6, among_people=True, profile="careful")
    # A careful worker errs at times, and the controls are drawn: a HIT with a wrong one is excluded and judged again.
    states = list(Assignment.objects.values_list("state", flat=True))
    assert (states.count("accepted"), set(states)) == (9, {"accepted", "excluded"})
    close_and_release(person)
    assert (person.clicks <= 16, person.typed <= 6) == (True, True)
    page.context.clear_cookies()
    page.goto("/results/photos-v1/")
    expect(page.get_by_role("main")).to_contain_text(f"url = {{{live_server.url}/results/photos-v1/}}")
    assert faults == []
