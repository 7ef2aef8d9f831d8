"""The command retrieve, where every pair costs."""

import json
import re

import pytest
from django.core.management import CommandError, call_command

from counterpart_annotators.base import Pace
from mitl.models import Retrieval
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
    monkeypatch.setattr("mitl.search.estimates.measure_pace", lambda scoring: Pace(1 / 60, 3))


def printed(capsys, *arguments: str) -> tuple[str, str]:
    capsys.readouterr()
    call_command(*arguments)
    said = capsys.readouterr()
    return said.out.strip(), said.err.strip()


def test_an_estimate_is_printed_before_the_search(capsys):
    out, err = printed(capsys, *ASKED, *CASCADE)
    assert "vilt over zoo: searched in" in out
    assert out.endswith("depth 3, of the first 7 of words.")
    assert f"vilt: {len(set(joint.asked()))} pairs, about 1 s at" in err
    assert re.search(r"pairs a second on cpu \(measured on \d+ batches\)\.$", err)


def test_what_is_kept_needs_no_estimate(capsys):
    printed(capsys, *ASKED, *CASCADE)
    assert printed(capsys, *ASKED, *CASCADE)[1] == ""


def test_an_estimate_alone_searches_nothing(capsys):
    out, err = printed(capsys, *ASKED, "--estimate")
    assert out.startswith("vilt: 128 pairs, about 1 s at")
    assert not Retrieval.objects.exists()
    assert 4 <= len(joint.batches) <= 1 + 128 / 4


def test_an_estimate_comes_as_figures(capsys):
    figures = json.loads(printed(capsys, *ASKED, "--estimate", "--json")[0])["vilt"]
    assert (figures["pairs"], figures["at_most"], figures["kept"], figures["device"]) == (128, False, 0, "cpu")
    assert figures["seconds"] == pytest.approx(128 / figures["pairs_a_second"])


def test_quick_annotators_have_nothing_to_estimate(capsys):
    asked = ("retrieve", "zoo", "--annotators", "words", "--estimate")
    assert printed(capsys, *asked)[0] == "There are no pairs to score one by one."
    assert printed(capsys, *asked, "--json")[0] == "{}"


def test_figures_name_the_cascade(capsys):
    figures = json.loads(printed(capsys, *ASKED, *CASCADE, "--json")[0])["vilt"]
    assert (figures["cascade"], figures["cascade_depth"], figures["depth"]) == ("words", 7, 3)


def test_what_takes_more_than_an_hour_is_not_started_unasked(slow):
    with pytest.raises(CommandError, match="vilt: This takes more than an hour. Pass --yes to start it") as raised:
        call_command(*ASKED)
    assert "\n" not in str(raised.value)
    assert not Retrieval.objects.exists()
    assert joint.batches == []


def test_what_takes_more_than_an_hour_is_started_with_yes(slow, capsys):
    out, err = printed(capsys, *ASKED, "--yes")
    assert "searched in" in out
    assert err == "vilt: 128 pairs, about 2 h at 0.02 pairs a second on cpu (measured on 3 batches)."


def test_the_way_out_by_a_cascade_is_named_with_its_price(slow, capsys, monkeypatch):
    monkeypatch.setattr("mitl.search.estimates.CASCADE_DEPTH", 2)
    with pytest.raises(CommandError, match="or --cascade A for a shorter search"):
        call_command(*ASKED)
    assert "with --cascade A at most 48 pairs, about 48 min." in capsys.readouterr().err
