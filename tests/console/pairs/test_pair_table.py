"""The pairs table over a pool, a round and a version."""

import csv
import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment, Report
from core.models import Event
from corpus.models import Caption, Image
from dataset.cases import refresh_queue
from dataset.models import Review, Verdict
from dataset.release import release_version
from dataset.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from hits.models import Round
from tests.annotation.cast import answer, candidates, propose
from tests.conftest import client_of
from tests.dataset.reviewing import level_of
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """Four candidates a, b, c, d with votes 1 1, 1 4 (a tie: 4), 4 4, 2 2, and proposals: clip b, a; vilt c, d, b."""
    made = make_round(make_collection(images=8, pictures=True), candidates=4, replication=2)
    hit = made.hits.get()
    answer(hit, 1, 1, 4, 2)
    answer(hit, 1, 4, 4, 2, seat=2)
    aggregate_round(made)
    a, b, c, d = candidates(hit)
    propose(made, [b, a], make_annotator("clip"))
    propose(made, [c, d, b], make_annotator("vilt"))
    return made


def table(kind="round", name="round-1", page="pairs", **filters) -> str:
    return reverse(page, args=[kind, name], query=filters)


def shown(client, made, **filters) -> str:
    """The letters of the candidates that the round's table lists, in its order; ``?`` for other pairs."""
    response = client.get(table(**filters))
    assert response.status_code == 200, response.content.decode()
    letters = dict(zip(candidates(made.hits.get()), "abcd", strict=True))
    return "".join(letters.get((one.image.pk, one.caption.pk), "?") for one in response.context.get("lines", []))


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


def test_filters_worked_by_hand(member, made):
    for filters, pairs in FILTERS:
        assert shown(member, made, **filters) == pairs, filters


def test_words_are_looked_for_in_captions_whatever_their_case(member, made):
    first, second, *_ = candidates(made.hits.get())
    Caption.objects.filter(pk=first[1]).update(text="A Zebra, 100% striped")
    Caption.objects.filter(pk=second[1]).update(text="1000 zebras")
    assert shown(member, made, text="zebra") == "ab"
    assert shown(member, made, text="100% s") == "a"


def test_a_filter_shows_what_waits_for_a_review_or_was_reported(member, made):
    first = candidates(made.hits.get())[0]
    refresh_queue(made.pool.collection)
    work = Assignment.objects.first()
    said = {"assignment": work, "worker": work.worker, "problem": "other", "note": "odd"}
    item = made.hits.get().items.get(image=first[0], caption=first[1])
    Report.objects.create(item=item, image_id=first[0], caption_id=first[1], **said)
    assert shown(member, made, flagged="review") == "b"
    assert shown(member, made, flagged="report") == "a"


def test_a_filter_shows_the_pairs_of_a_picture_a_caption_and_those_with_a_review(member, made):
    _, b, c, d = candidates(made.hits.get())
    conclude(made.pool.collection, [c], Conclusion("level", 1), by=User.objects.create_user("other"))
    assert shown(member, made, image=Image.objects.get(pk=b[0]).key) == "b"
    assert shown(member, made, caption=Caption.objects.get(pk=d[1]).key) == "d"
    assert shown(member, made, flagged="reviewed") == "c"


def test_the_least_certain_verdict_comes_first(member, made):
    assert shown(member, made, sort="level") == "adcb"
    for pair, probability in zip(candidates(made.hits.get()), (0.9, 0.6, 0.4, 0.7), strict=True):
        Verdict.objects.filter(image=pair[0]).update(probability=probability)
    assert shown(member, made, sort="unsure") == "cbda"


def test_verdicts_at_most_so_sure_are_those_whose_figure_on_pages_is(member, made):
    for pair, probability in zip(candidates(made.hits.get()), (0.999, 0.707, 0.004, None), strict=True):
        Verdict.objects.filter(image=pair[0]).update(probability=probability)
    for sure, pairs in (("99", "abc"), ("98", "bc"), ("70", "bc"), ("69", "c"), ("1", "c")):
        assert shown(member, made, sure=sure) == pairs, sure
    assert shown(member, made, sure="99", sort="unsure") == "cba"
    assert shown(member, made, sure="99", annotator="clip") == "ab"
    assert len(member.get(table("pool", made.pool.name, sure="70")).context["lines"]) == 2
    rows = member.get(table(page="pairs_csv", sure="70")).getvalue().decode().splitlines()
    assert len(rows) == 1 + 2


def test_a_verdict_tells_its_votes_and_how_sure_it_is(member, made):
    pair = candidates(made.hits.get())[1]
    Verdict.objects.filter(image=pair[0]).update(probability=0.576)
    assert "1 of 2 votes, 57% sure" in member.get(reverse("pair", args=pair)).text
    for page in (table(), table("pool", made.pool.name)):
        assert re.search(r"1 of 2 votes, <a [^>]*sure=57[^>]*>57% sure</a>", member.get(page).text)
    assert member.get(table()).text.count("2 of 2 votes, ") == 3


def test_no_verdict_is_called_quite_sure_and_none_of_an_earlier_program_sure(member, made):
    Verdict.objects.update(probability=0.9999)
    assert member.get(table()).content.decode().count("99% sure") == 4
    assert shown(member, made, sure="99") == "abcd"
    Verdict.objects.update(probability=None)
    assert not re.search(r"\d% sure", member.get(table()).text)


def test_the_verdict_of_one_vote_is_one_of_one(member):
    once = make_round(make_collection(images=8, pictures=True), candidates=4)
    answer(once.hits.get(), 1, 1, 4, 2)
    aggregate_round(once)
    assert member.get(table()).content.decode().count("1 of 1 vote, ") == 4


def test_a_probability_names_the_model_that_gives_it(member, made):
    aggregate_round(made, method="dawid-skene")
    pair = candidates(made.hits.get())[1]
    by_model = Verdict.objects.get(image=pair[0], aggregation__method="dawid-skene")
    by_model.confidence = 0.934
    by_model.save()
    assert "0.93 by dawid-skene, " in member.get(table()).content.decode()
    text = member.get(reverse("pair", args=pair)).content.decode()
    assert "0.93 by dawid-skene, 2 votes, " in text
    assert "1 of 2 votes, " in text


def test_before_the_votes_are_counted_every_pair_is_unjudged(member, made):
    made.aggregations.all().delete()
    assert shown(member, made, verdict="none") == "abcd"
    assert "No votes have been counted yet" in member.get(table()).content.decode()


def test_votes_that_do_not_count_are_not_shown(member, made):
    Assignment.objects.filter(seat__number=2).update(state="excluded")
    lines = member.get(table()).context["lines"]
    assert [one.votes for one in lines] == [[1], [1], [4], [2]]


def test_a_pair_of_a_top_up_is_listed_once(member, made):
    added = made.top_ups.create(number=1, plan_hash="0")
    item = made.hits.get().items.first()
    made.hits.create(number=2, top_up=added).items.create(place=1, image=item.image, caption=item.caption)
    assert len(member.get(table()).context["lines"]) == 4


def test_a_pool_lists_a_pair_once_that_two_rounds_judged(member, made):
    other = make_round(made.pool.collection, "round-2", candidates=4)
    type(other).objects.filter(pk=other.pk).update(pool=made.pool)
    answer(other.hits.get(), 1, 1, 4, 2)
    aggregate_round(other)
    assert len(member.get(table("pool", made.pool.name, verdict="no")).context["lines"]) == 2


def test_a_pool_lists_each_pair_once_with_all_who_proposed_it(member, made):
    lines = member.get(table("pool", made.pool.name)).context["lines"]
    assert len(lines) == 4
    both = next(one for one in lines if (one.image.pk, one.caption.pk) == candidates(made.hits.get())[1])
    assert [(one.annotator.name, one.rank) for one in both.proposals] == [("clip", 1), ("vilt", 3)]


def test_a_version_lists_its_matches_by_level(member, site):
    def levels(**filters):
        lines = member.get(table("version", "v1", **filters)).context.get("lines", [])
        return [match.grade for one in lines for match in one.matches]

    assert levels(verdict="1") == [1, 1]
    assert levels(verdict="no") == []
    assert None in levels(verdict="none")
    assert levels(sort="level") == [1, 1]


def test_every_line_leads_to_its_pair(member, made):
    text = member.get(table()).content.decode()
    assert all(reverse("pair", args=pair) in text for pair in candidates(made.hits.get()))


# The light table


def sides(client, kind="round", name="round-1", **filters) -> dict[str, list[tuple[int, int]]]:
    """The pairs of each side, by its title."""
    shown = client.get(table(kind, name, **filters)).context["sides"]
    return {side.title: [(one.image.pk, one.caption.pk) for one in side.lines] for side in shown}


def test_two_annotators_pairs_are_shown_side_by_side(member, made):
    a, b, c, d = candidates(made.hits.get())
    assert sides(member, annotator="clip", beside="vilt") == {"clip": [a, b], "vilt": [b, c, d]}
    assert sides(member, annotator="clip", beside="vilt", differ="on") == {"clip": [a], "vilt": [c, d]}
    assert sides(member, annotator="clip", beside="vilt", verdict="no") == {"clip": [b], "vilt": [b, c]}


def test_two_versions_are_shown_side_by_side(member, site):
    pair = (site.collection.images.first().pk, site.collection.captions.last().pk)
    conclude(site.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    release_version("v2", collection=site.collection, sample=site.pool.sample, rounds=[Round.objects.get(name="done")])
    both = sides(member, "version", "v2", beside="v1")
    assert list(both) == ["v2", "v1"]
    assert set(both["v2"]) - set(both["v1"]) == {pair}
    assert sides(member, "version", "v2", beside="v1", differ="on") == {"v2": [pair], "v1": []}


def test_the_shorter_side_ends_before_the_longer_one(member, made, monkeypatch):
    monkeypatch.setattr("console.pairs.light_table.SIZES", (4,))
    _, _, _, d = candidates(made.hits.get())
    response = member.get(f"{table(annotator='clip', beside='vilt')}&page=2")
    assert [[(one.image.pk, one.caption.pk) for one in side.lines] for side in response.context["sides"]] == [[], [d]]
    assert "No further pair on this side" in response.text


def test_the_address_chooses_the_view_and_its_columns(member, made):
    grid, chosen = member.get(table()).text, member.get(table(view="table", columns=["keys", "votes"])).text
    assert '<ul class="grid">' in grid
    assert re.findall(r"<th>(.*?)</th>", chosen) == ["Pair", "Votes", "Picture and caption"]
    assert re.findall(r"<th>(.*?)</th>", member.get(table(view="table", columns="none")).text)[1:] == [
        *("Proposed by", "Votes", "Verdict", "Review")
    ]


@pytest.mark.parametrize(("asked", "size"), [("60", 60), ("24", 24), ("1000", 24), ("", 24)])
def test_the_address_chooses_how_many_pairs_a_page_has(member, made, asked, size):
    assert member.get(table(size=asked)).context["rows"].paginator.per_page == size


def test_every_value_leads_to_the_pairs_that_share_it(member, made):
    b = candidates(made.hits.get())[1]
    refresh_queue(made.pool.collection)
    chosen = {"view": "table", "columns": ["proposed", "votes", "verdict", "review", "keys"]}
    address = table(**chosen, caption=Caption.objects.get(pk=b[1]).key)
    links = re.findall(r'<a [^>]*href="([^"]+)"', member.get(address).text.split("<tbody>")[1])
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
    assert all(len(member.get(html.unescape(link)).context["lines"]) for link in links if "?" in link)


def test_each_filter_is_removed_by_its_chip(member, made):
    address = table(annotator="clip", rank="1", level="", view="table", sort="level", sure="99")
    chips = member.get(f"{address}&page=1").context["chips"]
    assert [(chip.label, chip.value, chip.without) for chip in chips] == [
        ("Proposed by", "clip", "rank=1&view=table&sort=level&sure=99"),
        ("At rank, or better", "1", "annotator=clip&view=table&sort=level&sure=99"),
        ("At most % sure", "99", "annotator=clip&rank=1&view=table&sort=level"),
    ]


def test_a_chip_tells_the_words_of_a_choice_and_escapes_text(member, made):
    text = member.get(table(verdict="2", text="<b>")).text
    assert "Verdict: <strong>2 Partially YES</strong>" in text
    assert "Caption contains: <strong>&lt;b&gt;</strong>" in text


def test_the_trail_of_a_pair_tells_proposals_votes_reviews_and_versions(member, made):
    image, caption = candidates(made.hits.get())[1]
    conclude(made.pool.collection, [(image, caption)], Conclusion("level", 2), by=User.objects.create_user("other"))
    release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made])
    text = member.get(f"/pairs/{image}/{caption}/trail/").text
    for told in ("clip", "#1 of captions", "Votes: 1, 4", "1 of 2 votes", "by other", "/versions/v1/"):
        assert told in text, told
    assert "data-conclude" not in text
    assert [member.get(f"/pairs/{pair}/trail/").status_code for pair in ("0/0", f"{image}/0")] == [404, 404]


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
def test_a_filter_that_cannot_be_read_says_so_and_lists_nothing(member, made, page):
    for filters, said in UNREADABLE:
        response = member.get(table(page=page, **filters))
        assert (response.status_code, said in response.text) == (422, True), filters
        assert "lines" not in response.context


def test_other_things_have_no_pairs_table(member, db):
    assert [member.get(table(kind, "zoo")).status_code for kind in ("worker", "collection")] == [404, 404]


def test_a_page_that_is_not_there_leads_to_one_that_is(member, made):
    for number in ("99", "0", "-1", "x", "9" * 30):
        assert len(member.get(f"{table()}?page={number}").context["lines"]) == 4, number


def test_captions_are_escaped(member, made):
    Caption.objects.filter(pk=candidates(made.hits.get())[0][1]).update(text="<script>alert(1)</script>")
    text = member.get(table(text="<script>")).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def rows_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))


def test_the_download_holds_the_filtered_rows(member, made):
    (row,) = rows_of(member.get(table(page="pairs_csv", disagreement="yes")))
    assert (row["annotators"], row["votes"], row["confidence"]) == (
        "clip #1 of captions; vilt #3 of captions",
        "1 4",
        "0.500",
    )


def test_no_cell_of_the_download_is_a_formula(member, made):
    for sign in ("=", "+", "-", "@", "\t"):
        Caption.objects.update(text=f"{sign}cmd|'/c calc'!A1")
        assert all(row["text"].startswith(f"'{sign}") for row in rows_of(member.get(table(page="pairs_csv"))))


def test_a_download_longer_than_a_page_is_whole(member, made, monkeypatch):
    monkeypatch.setattr("console.pairs.light_table.MOST", 2)
    monkeypatch.setattr("console.pairs.pair_lines.BATCH", 3)
    assert len(rows_of(member.get(table(page="pairs_csv")))) == 4
    assert len(member.get(table()).context["lines"]) == 2


def test_a_table_asks_no_more_for_more_pairs(member):
    def queries(name, number):
        made = make_round(make_collection(f"of-{name}", images=30), name, candidates=number, replication=2)
        answer(made.hits.get(), *[1] * number)
        aggregate_round(made)
        propose(made, candidates(made.hits.get()), make_annotator(f"by-{name}"))
        with CaptureQueriesContext(connection) as asked:
            assert len(member.get(table(name=name)).context["lines"]) == number
        return len(asked)

    member.get("/")
    assert queries("small", 2) == queries("large", 24)


# Review of many pairs


def review(client, pairs, conclusion="4", **more):
    data = {"pair": [f"{image}-{caption}" for image, caption in pairs], "conclusion": conclusion, **more}
    return client.post(table(page="pairs_review", disagreement="yes"), data)


def test_selected_pairs_are_reviewed_alike_and_each_review_is_logged(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    response = review(reviewer, [a, b], reason="seen together")
    assert response.url == table(disagreement="yes")
    assert [(one.subject, one.level, one.reason) for one in Review.objects.all()] == [
        (a, 4, "seen together"),
        (b, 4, "seen together"),
    ]
    assert Event.objects.filter(verb="reviewed").count() == 2


def test_a_review_sent_twice_counts_once(reviewer, made):
    chosen = candidates(made.hits.get())[:2]
    review(reviewer, chosen)
    review(reviewer, chosen)
    assert Review.objects.count() == 2


def in_place(client, pair, level, **more):
    data = {"pair": f"{pair[0]}-{pair[1]}", "conclusion": level, **more}
    return client.post(table(page="pairs_review"), data, headers={"Accept": "application/json"})


def test_a_review_in_place_is_answered_with_the_pair_as_it_then_is(reviewer, made):
    pair = candidates(made.hits.get())[0]
    answer = in_place(reviewer, pair, "3", seen="0")
    found = answer.json()
    assert f'data-seen="{Review.objects.get().pk}"' in found["line"]
    assert 'data-level="3">' in found["line"]
    assert "Undo my last review" in found["undo"]
    assert "reviewed" not in reviewer.get(table()).content.decode().split('role="status"')[-1][:200]
    assert level_of(made.pool.collection, pair) == 3


def test_a_review_in_place_that_is_refused_says_why(reviewer, made):
    pair = candidates(made.hits.get())[0]
    conclude(made.pool.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    answer = in_place(reviewer, pair, "3", seen="0")
    assert (answer.status_code, "other reviewed picture" in answer.json()["trouble"]) == (422, True)
    assert in_place(client_of("researcher"), pair, "3").status_code == 403
    assert Review.objects.count() == 1


def test_who_may_not_review_sees_no_keys_for_it(member, reviewer, made):
    for client, may in ((member, False), (reviewer, True)):
        text = client.get(table()).text
        assert [one in text for one in ("review at this level", 'name="pair"', "data-select-all")] == [may] * 3


def undo_button(client, **filters):
    """What the table's button sends to undo the last review, None without the button."""
    last = client.get(table(**filters)).context["last"]
    return last and (reverse("reviews_undo", args=last["pair"]), {"review": last["reviews"]})


def test_the_table_undoes_a_review_of_many_pairs_as_a_whole(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    assert "Undo my last review of 2 pairs" in reviewer.get(table()).content.decode()
    response = reviewer.post(*undo_button(reviewer), follow=True)
    assert response.redirect_chain == [(f"{table(disagreement='yes')}#{a[0]}-{a[1]}", 302)]
    assert "Undone for 2 pairs." in response.content.decode()
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [None, None]
    assert undo_button(reviewer) is None


def test_what_somebody_replaced_since_keeps_all_of_an_act_from_being_undone(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=User.objects.create_user("other"))
    response = reviewer.post(*undo_button(reviewer), follow=True)
    assert "other has reviewed this since" in response.content.decode()
    assert response.redirect_chain == [(f"{table(disagreement='yes')}#{a[0]}-{a[1]}", 302)]
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [4, 1]


def test_undoing_leaves_what_said_the_same_before_the_act(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    conclude(made.pool.collection, [a], Conclusion("level", 4), by=User.objects.create_user("other"))
    review(reviewer, [a, b], seen=str(Review.objects.get().pk))
    reviewer.post(*undo_button(reviewer))
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [4, None]


def test_a_review_that_was_sent_twice_can_be_undone(reviewer, made):
    chosen = candidates(made.hits.get())[:2]
    for _ in range(2):
        review(reviewer, chosen, seen="0")
    reviewer.post(*undo_button(reviewer))
    assert [level_of(made.pool.collection, pair) for pair in chosen] == [None, None]


def test_a_table_offers_no_undo_of_what_was_reviewed_elsewhere(reviewer, made):
    review(reviewer, candidates(made.hits.get())[:2])
    assert "Undo my last review" not in reviewer.get(table("pool", made.pool.name)).content.decode()


def test_a_review_that_came_in_between_refuses_them_all(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    other = User.objects.create_user("other")
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=other)
    response = review(reviewer, [a, b], seen="0", reason="Both show kites.")
    assert response.status_code == 422
    picture, caption = Image.objects.get(pk=b[0]).key, Caption.objects.get(pk=b[1]).key
    text = response.content.decode()
    assert f"other reviewed picture {picture} with caption {caption} while you looked at it: level 1" in text
    assert 'value="Both show kites."' in text
    assert any(f'value="{image}-{caption}" checked' in text for image, caption in (a, b))
    assert Review.objects.count() == 1
    review(reviewer, [a, b], seen=re.search(r'name="seen" value="(\d+)"', text)[1])  # as the page then has it
    assert Review.objects.count() == 3


def test_the_address_of_a_bulk_review_leads_to_its_table(reviewer, made):
    address = table(page="pairs_review", text="dog")
    assert reviewer.get(address).url == table(text="dog")


def test_what_cannot_be_reviewed_changes_nothing(reviewer, made):
    pair = candidates(made.hits.get())[0]
    elsewhere = make_collection("farm")
    foreign = (elsewhere.images.first().pk, elsewhere.captions.first().pk)
    url = table(page="pairs_review")
    for pairs, conclusion, said in (
        ([], "4", "0 pairs are selected"),
        ([pair, foreign], "4", "1 of the selected pairs are not in zoo"),
        ([pair], "7", "Choose a level, or keep"),
        ([pair], "excluded", "A pair cannot be excluded"),
        ([pair] * 101, "4", "101 pairs are selected"),
    ):
        response = review(reviewer, pairs, conclusion)
        assert (response.status_code, said in response.content.decode()) == (422, True), said
    assert reviewer.post(url, {"pair": ["1-", "x-y"], "conclusion": "4"}).status_code == 422
    assert not Review.objects.exists()


@pytest.mark.parametrize("role", ["stranger", "worker", "researcher", "reviewer"])
def test_only_staff_see_the_table_and_only_reviewers_review_there(made, role):
    client = Client() if role in ("stranger", "worker") else client_of(role)
    if role == "worker":
        client.cookies["worker"] = worker_token(Assignment.objects.first().worker, made)
    read = [client.get(table(page=page)).status_code for page in ("pairs", "pairs_csv")]
    assert read == ([302, 302] if role in ("stranger", "worker") else [200, 200])
    done = review(client, candidates(made.hits.get())[:1]).status_code
    assert done == (403 if role == "researcher" else 302)
    assert Review.objects.exists() == (role == "reviewer")


def test_judgments_lead_to_the_round_judged_last(member, made):
    assert member.get("/judgments/").url == table()


def test_without_judgments_the_page_says_how_to_get_them(member, db):
    text = member.get("/judgments/", follow=True).content.decode()
    assert "No answers yet" in text
