"""Postings on platforms, the visits of their workers, and the calls that are made to platforms."""

from crowd.models.calls import Hint, Message, Outbox
from crowd.models.postings import AccountBalance, Audit, Posting, Sync, Visit, VisitQuerySet, visits_to_posting
