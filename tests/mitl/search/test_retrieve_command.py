"""The command retrieve, where every pair costs."""

import re

import pytest
from django.core.management import CommandError, call_command

from counterpart_annotators.base import Pace
from mitl.models import Retrieval
from tests.commands import figures_printed, output_of
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl import joint
from tests.mitl.plugged import plug_in

ASKED = ("retrieve", "zoo", "--annotators", "vilt", "--queries", "queries")
CASCADE = ("--cascade", "words", "--cascade-depth", "7", "--depth", "3")


@pytest.fixture(autouse=True)
def zoo(db, monkeypatch):
    plug_in(monkeypatch, joint="tests.mitl.joint")
    joint.forget()
    collection = make_collection(images=8)
    make_sample(collection)
    make_annotator("words"), make_annotator("vilt", "joint")
    return collection


@pytest.fixture
def slow(monkeypatch):
    """An annotator that scores a pair in a minute."""
    monkeypatch.setattr("mitl.search.retrieval.measure_pace", lambda scoring: Pace(1 / 60, 3))


def test_an_estimate_is_printed_before_the_search(capsys):
    out = output_of(*ASKED, *CASCADE)
    err = capsys.readouterr().err
    assert "vilt over zoo: searched in" in out
    assert "depth 3, of the first 7 of words.\n" in out
    pairs = len(set(joint.asked()))
    assert f"vilt: {pairs} pairs," in err
    assert re.search(r"pairs a second on cpu \(measured on \d+ batches\)\.\n$", err)
    output_of(*ASKED, *CASCADE)
    assert capsys.readouterr().err == "", "lists that are kept need no estimate"


def test_an_estimate_comes_as_figures_and_searches_nothing():
    figures = figures_printed(*ASKED, "--estimate")["vilt"]
    assert (figures["pairs"], figures["at_most"], figures["kept"], figures["device"]) == (128, False, 0, "cpu")
    assert figures["seconds"] == pytest.approx(128 / figures["pairs_a_second"])
    assert not Retrieval.objects.exists()
    assert 4 <= len(joint.batches) <= 1 + 128 / 4


def test_what_takes_more_than_an_hour_is_not_started_unasked(slow):
    with pytest.raises(CommandError, match="vilt: .* Pass --yes") as raised:
        call_command(*ASKED)
    assert "\n" not in str(raised.value)
    assert not Retrieval.objects.exists()
    assert joint.batches == []
    call_command(*ASKED, "--yes")
    assert Retrieval.objects.exists()


def test_the_way_out_by_a_cascade_is_named_with_its_price(slow, capsys, monkeypatch):
    monkeypatch.setattr("mitl.search.retrieval.CASCADE_DEPTH", 2)
    with pytest.raises(CommandError, match="--cascade A"):
        call_command(*ASKED)
    assert "48 pairs, about 48 min." in capsys.readouterr().err
