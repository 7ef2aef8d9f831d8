import pytest
from django.core.management import call_command

from mitl.annotators import built_in, kind_of
from mitl.models import Annotator
from tests.commands import figures_printed, output_of
from tests.factories import make_collection, make_sample
from tests.mitl.pictured import make_coloured_collection


def test_train_annotator_prints_its_figures(db):
    make_coloured_collection()
    call_command("add_annotator", "eyes", "--kind", "embedding", "--option", "image=histogram")
    figures = figures_printed("train_annotator", "eyes", "--collection", "colours")
    assert (figures["annotator"], figures["pairs"], figures["loss"]) == ("eyes", 48, "")
    assert figures["weights"] == Annotator.objects.get().checksum


def test_pool_prints_its_counts(db):
    make_sample(make_collection())
    call_command("add_annotator", "words", "--kind", "overlap")
    call_command("retrieve", "zoo", "--annotators", "words", "--queries", "queries")
    wish = ("--collection=zoo", "--annotators=words", "--queries=queries", "--control-depth=6")
    figures = figures_printed("pool", "p", *wish)
    assert figures["proposals"] == (6 + 12) * 5
    assert figures["seed"] == 0


@pytest.mark.parametrize("kind", built_in())
def test_the_settings_of_every_kind_are_printed(db, kind):
    printed = output_of("add_annotator", "any", "--kind", kind, "--tell-settings")
    assert all(f"{name}={option.initial}: " in printed for name, option in kind_of(kind).options.items())
    assert printed
