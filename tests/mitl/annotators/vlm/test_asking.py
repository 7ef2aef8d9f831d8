"""Questions of threads at the same time, in the ledger of the site."""

import pytest

from chat_asking import Asking, service_at
from chat_endpoint import said, serving
from core.errors import CounterpartError
from counterpart_annotators.kinds.vlm.spending import Ceiling
from mitl.hosting import purses

pytestmark = pytest.mark.django_db(transaction=True)  # it asks in threads


@pytest.fixture
def stub():
    """An endpoint on this machine that answers level 1 to everything by default."""
    with serving() as stub:
        yield stub


def test_a_ceiling_ends_the_asking_and_keeps_what_was_answered(stub):
    asking = Asking(stub, purses, ceiling=Ceiling(2, None), parallel=1)
    with pytest.raises(CounterpartError, match="ceiling of 2 requests"):
        asking.ask("dog", "cat", "bus")
    assert len(stub.asked) == 2
    assert len(purses.answers_to([f"digest of {caption}" for caption in ("dog", "cat", "bus")])) == 2


def test_money_is_never_passed_even_by_many_at_once(stub):
    most = service_at("").prices.most("dog")
    asking = Asking(stub, purses, ceiling=Ceiling(100, 2 * most), parallel=8)
    stub.answer = lambda asked: said("1", usage=None)
    with pytest.raises(CounterpartError, match="ceiling"):
        asking.ask(*(f"d{number}g" for number in range(8)))
    assert len(stub.asked) <= 2
    assert purses.spent(asking.service.purse)[1] <= 2 * most
