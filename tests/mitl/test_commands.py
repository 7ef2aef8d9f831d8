import json

import pytest
from django.core.management import call_command

from mitl.annotators import built_in, kind_of
from mitl.models import Annotator
from tests.factories import make_collection, make_sample
from tests.mitl.pictured import make_coloured_collection


@pytest.fixture
def zoo(db):
    collection = make_collection()
    make_sample(collection)
    call_command("add_annotator", "words", "--kind", "overlap")
    return collection


def printed(capsys, *arguments: str) -> str:
    capsys.readouterr()
    call_command(*arguments)
    return capsys.readouterr().out.strip()


def test_add_annotator_prints_the_settings(db, capsys):
    text = printed(capsys, "add_annotator", "eyes", "--kind", "embedding", "--option", "dim=8")
    assert text == "eyes: embedding (image=patches, text=words, dim=8)."


def test_train_annotator_prints_its_figures(db, capsys):
    make_coloured_collection()
    call_command("add_annotator", "eyes", "--kind", "embedding", "--option", "image=histogram")
    figures = json.loads(printed(capsys, "train_annotator", "eyes", "--collection", "colours", "--json"))
    assert (figures["annotator"], figures["pairs"], figures["loss"]) == ("eyes", 48, "")
    assert figures["weights"] == Annotator.objects.get().checksum


def test_retrieve_says_what_it_searched_and_what_it_kept(zoo, capsys):
    asked = ("retrieve", "zoo", "--annotators", "words", "--queries", "queries")
    assert "words over zoo: searched in" in (text := printed(capsys, *asked))
    assert text.endswith("depth 6, as deep as the gallery allows (of 25).")
    assert "words over zoo: kept from" in printed(capsys, *asked)
    assert json.loads(printed(capsys, *asked, "--json"))["words"]["kept"] is True


def test_pool_prints_its_counts(zoo, capsys):
    call_command("retrieve", "zoo", "--annotators", "words", "--queries", "queries")
    wish = ("--collection=zoo", "--annotators=words", "--queries=queries", "--control-depth=6", "--json")
    figures = json.loads(printed(capsys, "pool", "p", *wish))
    assert figures["proposals"] == (6 + 12) * 5
    assert figures["seed"] == 0


@pytest.mark.parametrize("kind", built_in())
def test_every_kind_tells_its_settings(db, kind, capsys):
    call_command("add_annotator", "any", "--kind", kind, "--tell-settings")
    told = capsys.readouterr().out
    assert all(f"{name}={option.initial}: " in told for name, option in kind_of(kind).options.items())
    assert told.strip()
