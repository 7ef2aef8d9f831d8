"""The filters of the pairs table: their chips, the values that lead to them, kept ones, and two sides."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Report
from corpus.models import Caption, Image
from dataset.judged.verdict_worth import hundredths
from dataset.models import SavedFilter, Verdict
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import Conclusion, conclude
from hits.models import Round
from tests.annotation.cast import candidates
from tests.conftest import client_of
from tests.console.pairs.tables import shown, table
from tests.dataset.releasing import release_version

pytestmark = pytest.mark.django_db


FILTERS = [
    ({}, "abcd"),
    ({"annotator": "clip"}, "ab"),
    ({"rank": "1"}, "bc"),
    ({"annotator": "clip", "rank": "1"}, "b"),
    ({"level": "1"}, "ab"),
    ({"level": "4"}, "bc"),
    ({"verdict": "1"}, "a"),
    ({"verdict": "no"}, "bc"),
    ({"verdict": "yes"}, "ad"),
    ({"disagreement": "yes"}, "b"),
    ({"disagreement": "no"}, "acd"),
    ({"control": "yes"}, "??"),
    ({"votes": "2"}, "abcd"),
    ({"votes": "1"}, ""),
]


def test_filters_worked_by_hand(researcher, made):
    for filters, pairs in FILTERS:
        assert shown(researcher, made, **filters) == pairs, filters


def test_words_are_looked_for_in_captions_whatever_their_case(researcher, made):
    first, second, *_ = candidates(made.hits.get())
    Caption.objects.filter(pk=first[1]).update(text="A Zebra, 100% striped")
    Caption.objects.filter(pk=second[1]).update(text="1000 zebras")
    assert shown(researcher, made, text="zebra") == "ab"
    assert shown(researcher, made, text="100% s") == "a"


def test_a_filter_shows_pairs_by_their_state_their_picture_and_their_caption(researcher, made):
    a, b, c, d = candidates(made.hits.get())
    refresh_queue(made.pool.collection)
    work = Assignment.objects.first()
    said = {"assignment": work, "worker": work.worker, "problem": "other", "note": "odd"}
    item = made.hits.get().items.get(image=a[0], caption=a[1])
    Report.objects.create(item=item, image_id=a[0], caption_id=a[1], **said)
    conclude(made.pool.collection, [c], Conclusion("level", 1), by=User.objects.create_user("other"))
    for flagged, letter in (("review", "b"), ("report", "a"), ("reviewed", "c")):
        assert shown(researcher, made, flagged=flagged) == letter
    assert shown(researcher, made, image=Image.objects.get(pk=b[0]).key) == "b"
    assert shown(researcher, made, caption=Caption.objects.get(pk=d[1]).key) == "d"


def test_the_address_chooses_the_view_its_columns_and_the_size_of_a_page(researcher, made):
    layout = researcher.get(table()).context["layout"]
    assert (layout.view, layout.size) == ("grid", 24)
    chosen = researcher.get(table(view="table", columns=["keys", "votes"], size="60"))
    assert (chosen.context["layout"].columns, chosen.context["rows"].paginator.per_page) == (["votes", "keys"], 60)
    assert re.findall(r"<th>(.*?)</th>", chosen.text) == ["Pair", "Votes", "Picture and caption"]
    layout = researcher.get(table(view="table", columns="none", size="1000")).context["layout"]
    assert (layout.columns, layout.size) == (["proposed", "votes", "verdict", "review"], 24)


def test_every_value_leads_to_the_pairs_that_share_it(researcher, made):
    b = candidates(made.hits.get())[1]
    refresh_queue(made.pool.collection)
    chosen = {"view": "table", "columns": ["proposed", "votes", "verdict", "review", "keys"]}
    address = table(**chosen, caption=Caption.objects.get(pk=b[1]).key)
    links = re.findall(r'<a [^>]*href="([^"]+)"', researcher.get(address).text.split("<tbody>")[1])
    known = parse_qs(urlsplit(address).query)
    asked = [parse_qs(urlsplit(html.unescape(link)).query) for link in links if "?" in link]
    added = [{name: one[0] for name, one in query.items() if known.get(name) != one} for query in asked]
    picture, sure = Image.objects.get(pk=b[0]).key, hundredths(Verdict.objects.get(image=b[0]))
    assert added == [
        *({"annotator": "clip"}, {"annotator": "clip", "rank": "1"}),
        *({"annotator": "vilt"}, {"annotator": "vilt", "rank": "3"}),
        *({"level": "1"}, {"level": "4"}, {"votes": "2"}, {"verdict": "4"}, {"sure": str(sure)}, {"flagged": "review"}),
        *({"image": picture}, {}),
    ]
    assert all(len(researcher.get(html.unescape(link)).context["lines"]) for link in links if "?" in link)


def test_each_filter_is_removed_by_its_chip(researcher, made):
    address = table(annotator="clip", rank="1", level="", view="table", sort="level", sure="99")
    chips = researcher.get(f"{address}&page=1").context["chips"]
    assert [(chip.label, chip.value, chip.without) for chip in chips] == [
        ("Proposed by", "clip", "rank=1&view=table&sort=level&sure=99"),
        ("At rank, or better", "1", "annotator=clip&view=table&sort=level&sure=99"),
        ("At most % right", "99", "annotator=clip&rank=1&view=table&sort=level"),
    ]


def test_a_chip_has_the_words_of_a_choice_and_escapes_text(researcher, made):
    page = researcher.get(table(verdict="2", text="<b>"))
    assert [chip.value for chip in page.context["chips"]] == ["<b>", "2 Partially YES"]
    assert "<b>" not in page.text


UNREADABLE = [
    {"annotator": "unknown"},
    {"rank": "0"},
    {"sure": "100"},
    {"level": "7"},
    {"image": "none-such"},
    {"control": "yes", "sure": "50"},
    {"verdict": "none", "votes": "1"},
    {"beside": "clip"},
    {"annotator": "clip", "beside": "clip"},
]


@pytest.mark.parametrize("page", ["pairs", "pairs_csv"])
def test_a_filter_that_cannot_be_read_lists_nothing(researcher, made, page):
    for filters in UNREADABLE:
        response = researcher.get(table(page=page, **filters))
        assert (response.status_code, bool(response.context["form"].errors)) == (422, True), filters
        assert "lines" not in response.context


# Two annotators or two versions side by side


def sides(client, kind="round", name="round-1", **filters) -> dict[str, list[tuple[int, int]]]:
    """The pairs of each side, by its title."""
    shown = client.get(table(kind, name, **filters)).context["sides"]
    return {side.title: [(one.image.pk, one.caption.pk) for one in side.lines] for side in shown}


def test_two_annotators_pairs_are_shown_side_by_side(researcher, made):
    a, b, c, d = candidates(made.hits.get())
    assert sides(researcher, annotator="clip", beside="vilt") == {"clip": [a, b], "vilt": [b, c, d]}
    assert sides(researcher, annotator="clip", beside="vilt", differ="on") == {"clip": [a], "vilt": [c, d]}
    assert sides(researcher, annotator="clip", beside="vilt", verdict="no") == {"clip": [b], "vilt": [b, c]}


def test_two_versions_are_shown_side_by_side(researcher, site):
    pair = (site.collection.images.first().pk, site.collection.captions.last().pk)
    conclude(site.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    release_version("v2", collection=site.collection, sample=site.pool.sample, rounds=[Round.objects.get(name="done")])
    both = sides(researcher, "version", "v2", beside="v1")
    assert list(both) == ["v2", "v1"]
    assert set(both["v2"]) - set(both["v1"]) == {pair}
    assert sides(researcher, "version", "v2", beside="v1", differ="on") == {"v2": [pair], "v1": []}


def test_the_shorter_side_ends_before_the_longer_one(researcher, made, monkeypatch):
    monkeypatch.setattr("console.pairs.light_table.SIZES", (4,))
    _, _, _, d = candidates(made.hits.get())
    response = researcher.get(f"{table(annotator='clip', beside='vilt')}&page=2")
    assert [[(one.image.pk, one.caption.pk) for one in side.lines] for side in response.context["sides"]] == [[], [d]]


# Filters of the pairs table that a person keeps under a name


SAVE = "/rounds/round-1/pairs/filters/"


def test_a_filter_is_saved_under_a_name_and_leads_to_the_same_pairs_anywhere(researcher, made):
    page = researcher.post(f"{SAVE}?text=dog+%26+cat&level=1&page=2&sort=", {"name": "<Dogs>"}, follow=True)
    assert page.redirect_chain == [("/rounds/round-1/pairs/?text=dog+%26+cat&level=1", 302)]
    pool = f"/pools/{made.pool}/pairs/"
    assert 'level=1">&lt;Dogs&gt;' in researcher.get(pool).text


def test_a_filter_comes_back_in_its_order_view_and_columns(researcher, made):
    chosen = "level=1&sort=unsure&view=table&columns=votes&columns=keys&size=60"
    page = researcher.post(f"{SAVE}?{chosen}&page=2", {"name": "Mine"}, follow=True)
    assert page.redirect_chain == [(f"/rounds/round-1/pairs/?{chosen}", 302)]
    assert page.context["kept"] == SavedFilter.objects.get().query == chosen


def test_a_default_layout_is_not_stored(researcher, made):
    """So a saved filter is marked as the one shown, whether or not a form has written out the default layout."""
    layout = "view=grid&columns=proposed&columns=verdict&columns=review&size=24"
    researcher.post(f"{SAVE}?level=1&{layout}", {"name": "Mine"})
    assert SavedFilter.objects.get().query == "level=1"
    assert researcher.get(f"/rounds/round-1/pairs/?level=1&{layout}").context["kept"] == "level=1"


def test_a_filter_saved_again_under_its_name_is_replaced(researcher, made):
    for level in "12":
        researcher.post(f"{SAVE}?level={level}", {"name": "Mine"})
    assert list(SavedFilter.objects.values_list("name", "query")) == [("Mine", "level=2")]


def test_no_filter_or_no_name_saves_nothing(researcher, made):
    for query, name in (("", "Empty"), ("?level=1", ""), ("?level=1", "a" * 41), ("?level=9", "No")):
        assert researcher.post(SAVE + query, {"name": name}).status_code == 422, name
    assert not SavedFilter.objects.exists()


def test_everybody_sees_and_removes_only_their_own(researcher, made):
    other = client_of("reviewer")
    theirs = SavedFilter.objects.create(owner=User.objects.get(username="reviewer"), name="Theirs", query="level=1")
    assert "Theirs" not in researcher.get("/rounds/round-1/pairs/").text
    assert researcher.post(f"{SAVE}{theirs.pk}/").status_code == 404
    assert "Theirs" in other.get("/rounds/round-1/pairs/").text
    assert other.post(f"{SAVE}{theirs.pk}/?level=2").url == "/rounds/round-1/pairs/?level=2"
    assert not SavedFilter.objects.exists()
