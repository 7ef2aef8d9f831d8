import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dataset.models import Case
from hits.models import Round
from tests.annotation.cast import answer, associate, candidates, sample_of
from tests.browser import barriers
from tests.console.browsing import log_in
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db

CXC = {"merge-1-source": "cxc", "merge-1-operator": ">=", "merge-1-score": "3"}


@pytest.fixture
def asked():
    """The fields of a release of one round, with a conflict with CxC."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2)
    answer(made.hits.get(), 1, 4)
    associate(made.pool.collection, "cxc", candidates(made.hits.get()), score=4)
    chosen = {"positive_levels": [1, 2], "method": "majority", "ties": "median"}
    return {"queries": sample_of(made).name, "rounds": [made.name], **CXC, **chosen}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"merge-1-score": ""}, "Source 1: Enter the score that decides."),
        ({"merge-2-source": "cxc"}, "Source 2: This source is chosen above. Choose each once."),
    ],
)
def test_a_source_that_is_half_chosen_is_explained(researcher, asked, typed, message):
    assert message in researcher.get("/release/counts/", asked | typed).json()["error"]


def test_a_source_of_another_collection_is_refused_at_its_field(researcher, asked):
    farm = make_round(make_collection("farm", images=6), "elsewhere")
    associate(farm.pool.collection, "farm-only", candidates(farm.hits.get()))
    page = researcher.get("/conflicts/", asked | {"merge-2-source": "farm-only"})
    assert page.status_code == 422
    assert page.context["form"].sources[1].errors == {
        "source": ["1 match source is not in zoo: farm-only; it has cxc, original."]
    }
    assert "farm-only (farm)" in page.text


def test_the_list_shows_conflicts_and_leads_to_their_pairs(member, asked):
    Round.objects.update(closed_at=timezone.now())
    text = member.get("/conflicts/", asked).content.decode()
    assert "1 conflict" in text
    assert "/pairs/" in text
    assert "Send 1 to review" not in text


def test_the_form_suggests_the_round_that_was_published_last(researcher, asked):
    newest = make_round(make_collection("farm", images=6, pictures=True), "newest")
    form = researcher.get("/conflicts/").context["form"]
    assert (form["queries"].value(), form["rounds"].value()) == (sample_of(newest).name, ["newest"])


def test_conflicts_are_sent_to_review(reviewer, asked):
    query = reviewer.get("/conflicts/", asked).context["query"]
    response = reviewer.post("/conflicts/send/", {"query": query}, follow=True)
    assert "1 conflict sent to review" in response.content.decode()
    assert Case.objects.get().reasons.keys() == {"conflict"}


def test_a_forged_query_sends_nothing(reviewer, asked):
    response = reviewer.post("/conflicts/send/", {"query": "queries=999&merge-1-source=cxc"}, follow=True)
    assert response.status_code == 200
    assert not Case.objects.exists()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_release_form_counts_once_a_round_is_ticked(page, live_server, asked):
    log_in(page, live_server.url)
    page.goto("/release/")
    counts = page.locator("#merge-counts")
    expect(counts).to_contain_text("No round is ticked.")
    page.get_by_label("round-1").check()
    expect(counts).to_contain_text("original: 12 pairs, 12 new, 0 conflicts.")
    second = page.get_by_role("group", name="Source 2 and its pairs")
    second.get_by_role("combobox", name="Source 2").select_option("cxc")
    second.get_by_label("Pairs").select_option("with at least the score")
    expect(counts).to_contain_text("Source 2: Enter the score that decides.")
    second.get_by_label("Score").fill("3")
    expect(counts).to_contain_text("cxc>=3: 2 pairs")
    assert barriers(page) == []
    page.get_by_role("link", name="Count and show conflicts").click()
    expect(page.get_by_role("heading", name="1 conflict")).to_be_visible()
    expect(page.get_by_role("combobox", name="Source 2")).to_have_value("cxc")
    assert barriers(page) == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_source_is_merged_above_a_score_without_scripts(open_page, live_server, asked):
    page = open_page(java_script_enabled=False)
    log_in(page, live_server.url)
    page.goto("/release/")
    assert not page.locator("#merge-counts").is_visible()
    page.get_by_label("Version name").fill("v1")
    page.get_by_label("round-1").check()
    page.get_by_role("combobox", name="Source 2").select_option("cxc")
    page.get_by_role("group", name="Source 2 and its pairs").get_by_label("Pairs").select_option("above the score")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("group", name="Source 2 and its pairs")).to_contain_text("Enter the score that decides.")
    page.get_by_role("group", name="Source 2 and its pairs").get_by_label("Score").fill("3.5")
    page.get_by_label("Release unfinished rounds as they are").check()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#contents")).to_contain_text("--partial --rounds round-1 --merge 'original,cxc>3.5'")
