import numpy as np
from django.core.files.storage import default_storage

from core.models import Event
from mitl.models import Direction, Proposal, Retrieval
from mitl.overlaps import overlap
from mitl.search.gallery import load_lists
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample


def propose(pool, annotator, image, caption, direction="i2t"):
    Proposal.objects.create(
        pool=pool, annotator=annotator, image=image, caption=caption, direction=direction, rank=1, score=0.5
    )


def test_overlap_counts_distinct_pairs_that_annotators_share(db):
    collection = make_collection(images=3)
    pool = make_pool(make_sample(collection))
    one, two = make_annotator("one"), make_annotator("two")
    (a, b, c), caption = collection.images.all(), collection.captions.first()
    for image in (a, b):
        propose(pool, one, image, caption)
    propose(pool, one, a, caption, "t2i")  # both directions: still one pair
    for image in (b, c):
        propose(pool, two, image, caption)
    found = overlap(pool)
    assert found.annotators == [one, two]
    assert found.shared.tolist() == [[2, 1], [1, 2]]
    assert found.alone.tolist() == [1, 1]


def test_the_overlap_of_an_empty_pool_is_empty(db):
    assert overlap(make_pool(make_sample(make_collection()))).annotators == []


def test_examples_show_the_lists_in_their_order_from_the_chosen_query_on(researcher, site):
    lists = load_lists(site.retrieval)
    context = researcher.get("/annotators/overlap/").context
    ranked = lists[Direction.CAPTION_TO_IMAGE]
    shown = [[item.pk for item, _, _ in places] for _, places in context["t2i"]]
    assert np.array_equal(shown, ranked.items[:4, :5])
    assert [query.pk for query, _ in context["t2i"]] == ranked.queries[:4].tolist()
    later = researcher.get("/annotators/overlap/?from=4").context["i2t"]
    assert [query.pk for query, _ in later] == lists[Direction.IMAGE_TO_CAPTION].queries[4:8].tolist()


def test_examples_mark_the_pairs_that_the_collection_has_already(researcher, site):
    for query, places in researcher.get("/annotators/overlap/").context["i2t"]:
        captions = {caption.pk for caption in query.captions.all()}
        assert [own for _, _, own in places] == [item.pk in captions for item, _, _ in places]


def test_the_search_that_is_asked_for_is_shown(researcher, site):
    newer = make_retrieval(site.retrieval.annotator, site.retrieval.sample, seed=1)
    shown = [
        researcher.get(f"/annotators/overlap/{asked}").context["shown"]
        for asked in ("", f"?retrieval={site.retrieval.pk}", f"?retrieval={newer.pk}")
    ]
    assert shown == [newer, site.retrieval, newer]


def test_a_search_shows_its_re_ranking_and_missing_lists_are_named(researcher, site):
    Retrieval.objects.filter(pk=site.retrieval.pk).update(rerank="csls:k=10")
    default_storage.delete(site.retrieval.file)
    page = researcher.get("/annotators/overlap/")
    assert ("blocked, csls:k=10" in page.text, "storage" in page.context["trouble"]) == (True, True)


def test_a_pool_shows_who_proposed_what(researcher, db):
    sample = make_sample(make_collection())
    retrieval = make_retrieval(make_annotator(), sample)
    image = sample.collection.images.first()
    make_pool(sample, [retrieval], pairs=[(image, sample.collection.captions.last())])
    (annotator,) = researcher.get("/pools/pool/").context["annotators"]
    assert annotator == (retrieval.annotator, [(retrieval.annotator, 1, 1.0, 10)], 1)


def test_a_researcher_changes_where_an_annotator_comes_from(researcher, db):
    made = make_annotator()
    page = researcher.post(f"/annotators/{made}/describe/", {"source": "<Radford>", "licence": "MIT"})
    assert "<dd>&lt;Radford&gt;</dd>" in researcher.get(f"/annotators/{made}/origin/").text
    event = Event.objects.get(verb="described")
    assert (page.status_code, event.actor, event.data) == (302, "researcher", {"source": "<Radford>", "licence": "MIT"})
    researcher.post(f"/annotators/{made}/describe/", {"source": "", "licence": "MIT"})
    made.refresh_from_db()
    assert (made.source, made.licence) == ("", "MIT")


def test_a_source_that_is_too_long_is_refused_and_only_researchers_change_it(researcher, reviewer, db):
    made = make_annotator()
    page = researcher.post(f"/annotators/{made}/describe/", {"source": "x" * 401})
    assert (page.status_code, "source" in page.context["form"].errors) == (422, True)
    assert f"/annotators/{made}/describe/" not in reviewer.get(f"/annotators/{made}/origin/").text
    assert reviewer.post(f"/annotators/{made}/describe/").status_code == 403
