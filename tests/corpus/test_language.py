"""The language of a collection: given with its import, and carried by its captions on every page."""

import re

import pytest

from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from corpus.collection_parameters import ImportParameters
from corpus.imports import import_collection
from corpus.models import Collection
from tests.annotation.answering import address
from tests.annotation.task_types.rounds import open_round
from tests.factories import make_worker

LINE = '{"caption_id": 1, "image_id": 1, "file_name": "1.jpg", "text": "Ein Hund rennt."}\n'
MARKS = r'<(\w+)[^>]*class="[^"]*notranslate"[^>]*lang="([^"]*)"[^>]*translate="no"[^>]*>'


def imported(tmp_path, **more: object) -> Collection:
    (tmp_path / "captions.jsonl").write_text(LINE)
    import_collection("zoo", format="jsonl", path=tmp_path / "captions.jsonl", **more)
    return Collection.objects.get()


def test_an_import_notes_the_language_and_one_without_it_keeps_it(db, tmp_path):
    assert imported(tmp_path).language == ""
    assert imported(tmp_path, language="de").language == "de"
    assert imported(tmp_path).language == "de"


def test_an_import_in_another_language_is_refused_and_changes_nothing(db, tmp_path):
    imported(tmp_path, language="de")
    with pytest.raises(CounterpartError, match="in de, not fr"):
        imported(tmp_path, language="fr")
    assert Collection.objects.get().language == "de"


@pytest.mark.parametrize("tag", ["german language", "d", "de_DE", "de-", "<b>", "de\n\nx"])
def test_an_invalid_language_tag_is_refused(tag):
    with pytest.raises(CounterpartError, match="Invalid language"):
        ImportParameters(collection="zoo", path="x", format="jsonl", language=tag)


@pytest.mark.parametrize(
    ("task", "element"),
    [
        ("levels", "blockquote"),
        ("expert", "blockquote"),
        ("determinate", "blockquote"),
        ("preference", "blockquote"),
        ("checkbox", "span"),
        ("caption", "textarea"),
    ],
)
def test_sentences_that_are_judged_name_their_language_and_are_not_translated(db, stranger, task, element):
    made = open_round(task)
    Collection.objects.filter(pk=made.pool.collection_id).update(language="de")
    page = stranger.get(address("task", lease_seat(made, worker=make_worker()))).text
    found = re.findall(MARKS, page)
    assert set(found) == {(element, "de")}
    shown = ('class="sentence', "<textarea", 'type="checkbox" name="level')
    assert len(found) == sum(map(page.count, shown))


def test_captions_of_staff_pages_are_not_translated_either(client, db, django_user_model, tmp_path):
    zoo = imported(tmp_path, language="de")
    client.force_login(django_user_model.objects.create_superuser("kim"))
    page = client.get(f"/captions/{zoo.captions.get().pk}/").text
    assert re.search(MARKS + "Ein Hund rennt", page)[2] == "de"
