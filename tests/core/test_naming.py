"""Names that people give: what is valid, and what an unknown one is answered with."""

import pytest

from core.errors import CounterpartError
from core.text import check_name, find_named
from corpus.models import Collection


@pytest.mark.parametrize("name", ["zoo", "Zoo-2_b", "x" * 80])
def test_a_valid_name_is_returned(name):
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "a b", "../zoo", "zoo\n", "x" * 81])
def test_an_invalid_name_is_refused(name):
    with pytest.raises(CounterpartError, match="name"):
        check_name(name)


def test_a_row_is_found_by_name(db):
    zoo = Collection.objects.create(name="zoo")
    assert Collection.objects.named("zoo") == find_named(Collection.objects.all(), "zoo", made_by="x") == zoo


def test_an_unknown_name_is_answered_with_the_existing_ones_and_the_command_that_makes_one(db):
    with pytest.raises(CounterpartError, match="import_collection"):
        Collection.objects.named("zoo")
    Collection.objects.create(name="farm")
    with pytest.raises(CounterpartError, match="'zoo': use farm"):
        Collection.objects.named("zoo")
