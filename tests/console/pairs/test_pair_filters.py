"""The filters of the pairs table, their chips, and the values that lead to them."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Report
from corpus.models import Caption, Image
from dataset.models import Verdict
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import Conclusion, conclude
from tests.annotation.cast import candidates
from tests.console.pairs.tables import shown, table

pytestmark = pytest.mark.django_db


FILTERS = [
    ({}, "abcd"),
    ({"annotator": "clip"}, "ab"),
    ({"annotator": "vilt"}, "bcd"),
    ({"rank": "1"}, "bc"),
    ({"annotator": "clip", "rank": "1"}, "b"),
    ({"annotator": "vilt", "rank": "2"}, "cd"),
    ({"level": "1"}, "ab"),
    ({"level": "4"}, "bc"),
    ({"level": "3"}, ""),
    ({"verdict": "1"}, "a"),
    ({"verdict": "no"}, "bc"),
    ({"verdict": "yes"}, "ad"),
    ({"verdict": "none"}, ""),
    ({"disagreement": "yes"}, "b"),
    ({"disagreement": "no"}, "acd"),
    ({"disagreement": "no", "annotator": "clip"}, "a"),
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


def test_a_filter_shows_what_waits_for_a_review_or_was_reported(researcher, made):
    first = candidates(made.hits.get())[0]
    refresh_queue(made.pool.collection)
    work = Assignment.objects.first()
    said = {"assignment": work, "worker": work.worker, "problem": "other", "note": "odd"}
    item = made.hits.get().items.get(image=first[0], caption=first[1])
    Report.objects.create(item=item, image_id=first[0], caption_id=first[1], **said)
    assert shown(researcher, made, flagged="review") == "b"
    assert shown(researcher, made, flagged="report") == "a"


def test_a_filter_shows_the_pairs_of_a_picture_a_caption_and_those_with_a_review(researcher, made):
    _, b, c, d = candidates(made.hits.get())
    conclude(made.pool.collection, [c], Conclusion("level", 1), by=User.objects.create_user("other"))
    assert shown(researcher, made, image=Image.objects.get(pk=b[0]).key) == "b"
    assert shown(researcher, made, caption=Caption.objects.get(pk=d[1]).key) == "d"
    assert shown(researcher, made, flagged="reviewed") == "c"


def test_the_address_chooses_the_view_and_its_columns(researcher, made):
    grid, chosen = researcher.get(table()).text, researcher.get(table(view="table", columns=["keys", "votes"])).text
    assert '<ul class="grid">' in grid
    assert re.findall(r"<th>(.*?)</th>", chosen) == ["Pair", "Votes", "Picture and caption"]
    assert re.findall(r"<th>(.*?)</th>", researcher.get(table(view="table", columns="none")).text)[1:] == [
        *("Proposed by", "Votes", "Verdict", "Review")
    ]


@pytest.mark.parametrize(("asked", "size"), [("60", 60), ("24", 24), ("1000", 24), ("", 24)])
def test_the_address_chooses_how_many_pairs_a_page_has(researcher, made, asked, size):
    assert researcher.get(table(size=asked)).context["rows"].paginator.per_page == size


def test_every_value_leads_to_the_pairs_that_share_it(researcher, made):
    b = candidates(made.hits.get())[1]
    refresh_queue(made.pool.collection)
    chosen = {"view": "table", "columns": ["proposed", "votes", "verdict", "review", "keys"]}
    address = table(**chosen, caption=Caption.objects.get(pk=b[1]).key)
    links = re.findall(r'<a [^>]*href="([^"]+)"', researcher.get(address).text.split("<tbody>")[1])
    known = parse_qs(urlsplit(address).query)
    asked = [parse_qs(urlsplit(html.unescape(link)).query) for link in links if "?" in link]
    added = [{name: one[0] for name, one in query.items() if known.get(name) != one} for query in asked]
    picture, sure = Image.objects.get(pk=b[0]).key, Verdict.objects.get(image=b[0]).sure
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
        ("At most % sure", "99", "annotator=clip&rank=1&view=table&sort=level"),
    ]


def test_a_chip_tells_the_words_of_a_choice_and_escapes_text(researcher, made):
    text = researcher.get(table(verdict="2", text="<b>")).text
    assert "Verdict: <strong>2 Partially YES</strong>" in text
    assert "Caption contains: <strong>&lt;b&gt;</strong>" in text


UNREADABLE = [
    ({"annotator": "nobody"}, "Select a valid choice"),
    ({"rank": "first"}, "Enter a whole number"),
    ({"rank": "0"}, "greater than or equal to 1"),
    ({"sure": "100"}, "less than or equal to 99"),
    ({"verdict": "none", "sure": "50"}, "Pairs without a verdict cannot be filtered or sorted by it"),
    ({"control": "yes", "sure": "50"}, "Controls have no verdict"),
    ({"level": "7"}, "7 is not one of the available choices"),
    ({"sort": "price"}, "price is not one of the available choices"),
    ({"control": "yes", "verdict": "1"}, "Controls have no verdict"),
    ({"image": "none-such"}, "No picture of the collection has this key"),
    ({"beside": "clip"}, "Choose the annotator of the first side too"),
    ({"annotator": "clip", "beside": "clip"}, "Both sides show the same annotator"),
    ({"verdict": "none", "votes": "1"}, "Pairs without a verdict cannot be filtered or sorted by it"),
    ({"verdict": "none", "sort": "unsure"}, "Pairs without a verdict cannot be filtered or sorted by it"),
]


@pytest.mark.parametrize("page", ["pairs", "pairs_csv"])
def test_a_filter_that_cannot_be_read_says_so_and_lists_nothing(researcher, made, page):
    for filters, said in UNREADABLE:
        response = researcher.get(table(page=page, **filters))
        assert (response.status_code, said in response.text) == (422, True), filters
        assert "lines" not in response.context
