"""Fixed queries, built once and asked with other keys each time."""

import pytest
from django.db import transaction
from django.db.transaction import TransactionManagementError

from core.database.fixed_queries import FixedQuery
from hits.models import HIT, Round
from tests.factories import make_round

pytestmark = pytest.mark.django_db


@FixedQuery
def hits_of(round: int, name: str):
    return HIT.objects.select_related("round").filter(round=round, round__name=name)


@FixedQuery
def locked(round: int):
    return Round.objects.select_for_update().filter(pk=round)


def test_each_call_asks_for_its_own_keys():
    made = make_round(name="round")
    other = make_round(made.pool.collection, name="other")
    assert hits_of(made.pk, "round") == [*made.hits.all()]
    assert hits_of.first(other.pk, "other") == other.hits.get()
    assert hits_of(other.pk, "round") == []
    assert hits_of.first(other.pk, "round") is None


def test_rows_come_as_the_query_gives_them_with_what_they_are_related_to(django_assert_num_queries):
    made = make_round(name="round")
    names = FixedQuery(lambda name: Round.objects.filter(name=name).values_list("pk", "name"))
    keys = FixedQuery(lambda key: HIT.objects.filter(round=key).values_list("number", flat=True))
    assert [names("round"), keys(made.pk)] == [[(made.pk, "round")], [1]]
    with django_assert_num_queries(1):
        assert hits_of(made.pk, "round")[0].round.design == made.design


def test_it_builds_its_query_once():
    calls = []

    @FixedQuery
    def counted(key: int):
        calls.append(key)
        return Round.objects.filter(pk=key)

    assert counted(1) == counted(2) == []
    assert len(calls) == 1


def test_it_locks_rows_within_a_transaction_alone(transactional_db):
    made = make_round()
    with transaction.atomic():
        assert locked(made.pk) == [made]
    with pytest.raises(TransactionManagementError, match="outside a transaction"):
        locked(made.pk)


def test_an_argument_that_no_column_is_compared_with_is_refused():
    forgotten = FixedQuery(lambda round, number: HIT.objects.filter(round=round))
    with pytest.raises(TypeError, match="each argument"):
        forgotten(1, 2)
