"""The moment money has left: an owed payment is paid, once."""

from django.db import transaction
from django.utils import timezone

from hits.models import Payment
from journal.events import record


def mark_paid(payment: Payment, *, actor: str) -> bool:
    """Note that an owed payment has been paid, by the platform or by hand. False: it is paid or withdrawn."""
    now = timezone.now()
    with transaction.atomic(savepoint=False):
        owed = Payment.objects.filter(pk=payment.pk, state=Payment.State.OWED)
        if not owed.update(state=Payment.State.PAID, paid_at=now):
            return False
        record("paid", payment, actor=actor, amount=str(payment.amount))
    payment.state, payment.paid_at = Payment.State.PAID, now
    return True
