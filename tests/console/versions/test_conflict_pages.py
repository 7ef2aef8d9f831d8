import pytest
from playwright.sync_api import expect

from dataset.models import Case
from tests.annotation.cast import answer, associate, candidates, sample_of
from tests.browser import barriers
from tests.console.test_console_browser import log_in
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked():
    """The fields of a release of one round, with a conflict with CxC."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2)
    answer(made.hits.get(), 1, 4)
    associate(made.pool.collection, "cxc", candidates(made.hits.get()), score=4)
    chosen = {"positive_levels": [1, 2], "method": "majority", "ties": "median"}
    return {"queries": sample_of(made).name, "rounds": [made.name], "merge": "cxc>=3", **chosen}


def test_counts_come_as_json(member, asked):
    counts = member.get("/release/counts/", asked).json()
    assert counts["sources"] == [{"source": "cxc>=3", "pairs": 2, "new": 0, "conflicts": 1}]


@pytest.mark.parametrize(("merge", "message"), [("cxc>>3", "Invalid match source"), ("vg", "lacks 1 match source")])
def test_a_half_typed_merge_is_explained(member, asked, merge, message):
    assert message in member.get("/release/counts/", asked | {"merge": merge}).json()["error"]


def test_the_list_shows_conflicts_and_leads_to_their_pairs(member, asked):
    text = member.get("/conflicts/", asked).content.decode()
    assert "1 conflict" in text
    assert "/pairs/" in text
    assert "Send 1 to review" not in text


def test_the_form_suggests_the_round_that_was_published_last(member, asked):
    newest = make_round(make_collection("farm", images=6, pictures=True), "newest")
    form = member.get("/conflicts/").context["form"]
    assert (form["queries"].value(), form["rounds"].value()) == (sample_of(newest).name, ["newest"])


def test_conflicts_are_sent_to_review(reviewer, asked):
    query = reviewer.get("/conflicts/", asked).context["query"]
    response = reviewer.post("/conflicts/send/", {"query": query}, follow=True)
    assert "1 conflict sent to review" in response.content.decode()
    assert Case.objects.get().reasons.keys() == {"conflict"}


def test_a_forged_query_sends_nothing(reviewer, asked):
    response = reviewer.post("/conflicts/send/", {"query": "queries=999&merge=cxc"}, follow=True)
    assert response.status_code == 200
    assert not Case.objects.exists()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_release_form_counts_while_a_threshold_is_typed(page, live_server, asked):
    log_in(page, live_server.url)
    page.goto("/release/")
    expect(page.locator("#merge-counts")).to_contain_text("original: 12 pairs, 12 new, 0 conflicts.")
    page.get_by_label("round-1").check()
    page.get_by_role("textbox", name="Merge").fill("cxc>=3")
    expect(page.locator("#merge-counts")).to_contain_text("cxc>=3: 2 pairs, 0 new, 1 conflicts.")
    assert barriers(page) == []
    page.get_by_role("link", name="Count and show conflicts").click()
    expect(page.get_by_role("heading", name="1 conflict")).to_be_visible()
    assert barriers(page) == []
