"""The filters of the pairs table: their chips, and the values that lead to them."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Report
from corpus.models import Caption, Image
from dataset.judged.verdict_worth import hundredths
from dataset.models import Verdict
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import Conclusion, conclude
from hits.models import Round
from tests.annotation.cast import candidates
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


def test_every_value_leads_to_the_pairs_that_share_it(researcher, made):
    b = candidates(made.hits.get())[1]
    refresh_queue(made.pool.collection)
    address = table(caption=Caption.objects.get(pk=b[1]).key)
    links = re.findall(r'<a [^>]*href="([^"]+)"', researcher.get(address).text.split("data-pairs")[1])
    known = parse_qs(urlsplit(address).query)
    asked = [parse_qs(urlsplit(html.unescape(link)).query) for link in links if "?" in link]
    added = [{name: one[0] for name, one in query.items() if known.get(name) != one} for query in asked]
    sure = hundredths(Verdict.objects.get(image=b[0]))
    assert added == [
        *({"verdict": "4"}, {"sure": str(sure)}, {"level": "1"}, {"level": "4"}, {"votes": "2"}),
        *({"annotator": "clip"}, {"annotator": "clip", "rank": "1"}),
        *({"annotator": "vilt"}, {"annotator": "vilt", "rank": "3"}, {"flagged": "review"}),
    ]
    assert all(len(researcher.get(html.unescape(link)).context["lines"]) for link in links if "?" in link)


def test_each_filter_is_removed_by_its_chip(researcher, made):
    address = table(annotator="clip", rank="1", level="", sort="level", sure="99")
    assert researcher.get(f"{address}&page=1").context["form"].chips == [
        ("Proposed by", "clip", "rank=1&sure=99&sort=level"),
        ("At rank, or better", "1", "annotator=clip&sure=99&sort=level"),
        ("At most % right", "99", "annotator=clip&rank=1&sort=level"),
    ]


def test_a_chip_has_the_words_of_a_choice_and_escapes_text(researcher, made):
    page = researcher.get(table(verdict="2", text="<b>"))
    assert [value for _, value, _ in page.context["form"].chips] == ["<b>", "2 Partially YES"]
    assert "<b>" not in page.text


UNREADABLE = [
    {"annotator": "unknown"},
    {"rank": "0"},
    {"sure": "100"},
    {"level": "7"},
    {"image": "none-such"},
    {"control": "yes", "sure": "50"},
    {"verdict": "none", "votes": "1"},
]


@pytest.mark.parametrize("page", ["pairs", "pairs_csv"])
def test_a_filter_that_cannot_be_read_lists_nothing(researcher, made, page):
    for filters in UNREADABLE:
        response = researcher.get(table(page=page, **filters))
        assert (response.status_code, bool(response.context["form"].errors)) == (422, True), filters
        assert "lines" not in response.context


def test_pairs_of_two_annotators_and_of_one_alone(researcher, made):
    assert shown(researcher, made, annotator="clip", also="vilt") == "b"
    assert shown(researcher, made, annotator="vilt", unlike="clip") == "cd"
    assert shown(researcher, made, unlike="clip", verdict="no") == "c"


def test_a_version_lists_what_another_version_judges_differently(researcher, site):
    pair = (site.collection.images.first().pk, site.collection.captions.last().pk)
    conclude(site.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    release_version("v2", collection=site.collection, sample=site.pool.sample, rounds=[Round.objects.get(name="done")])
    lines = researcher.get(table("version", "v2", unlike="v1")).context["lines"]
    assert [(line.image.pk, line.caption.pk) for line in lines] == [pair]
