"""An annotator of one's own: the one that docs/annotators.md prints, and the recipe of CONTRIBUTING.md."""

import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from mitl import annotators
from mitl.annotators.kinds import KINDS
from mitl.models import Annotator, Retrieval
from mitl.search.gallery import load_lists
from tests.factories import make_collection
from tests.mitl.plugged import plug_in

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def zoo(db):
    """Pictures in one colour; the captions of some name a colour, those of others name none."""
    zoo = make_collection("zoo", images=6, captions_each=2, pictures=True)
    for number, caption in enumerate(zoo.captions.order_by("pk")):
        caption.text = "A RED square." if number % 3 == 0 else "A dog runs."
        caption.save()
    return zoo


def test_the_annotator_that_the_docs_print_searches_captions_that_name_no_colour(zoo, tmp_path, monkeypatch):
    printed = re.search(r"```python\n(.*?)```", (ROOT / "docs/annotators.md").read_text(), re.S)[1]
    assert len(printed.splitlines()) <= 32
    (tmp_path / "palette_of_the_docs.py").write_text(printed)
    monkeypatch.syspath_prepend(tmp_path)
    plug_in(monkeypatch, palette="palette_of_the_docs")
    call_command("add_annotator", "colours", "--kind", "palette", "--option", "side=64", stdout=StringIO())
    call_command("retrieve", "zoo", "--annotators", "colours", stdout=StringIO(), stderr=StringIO())
    lists = load_lists(Retrieval.objects.get())
    assert {side: ranked.items.shape for side, ranked in lists.items()} == {"i2t": (6, 6), "t2i": (12, 6)}
    sys.modules.pop("palette_of_the_docs")


def test_the_recipe_for_an_annotator_makes_a_kind_that_retrieves(zoo, tmp_path, monkeypatch):
    recipe = re.search(r"\*\*Add an annotator\.\*\*(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.S)[1]
    nearest = re.search(r"such as `(mitl/annotators/(\w+)\.py)`", recipe)
    table, module = re.search(r"to `(\w+)`\s+in `(mitl/annotators/\w+)\.py`", recipe).groups()
    assert (table, module) == ("KINDS", "mitl/annotators/kinds")
    (tmp_path / "coin.py").write_text((ROOT / nearest[1]).read_text())
    monkeypatch.setattr(annotators, "__path__", [*annotators.__path__, str(tmp_path)])
    monkeypatch.setitem(KINDS, "coin", KINDS[nearest[2]])
    call_command("add_annotator", "mine", "--kind", "coin", stdout=StringIO())
    call_command("retrieve", "zoo", "--annotators", "mine", stdout=StringIO(), stderr=StringIO())
    assert Retrieval.objects.get().annotator == Annotator.objects.get(kind="coin")
    sys.modules.pop("mitl.annotators.coin")
