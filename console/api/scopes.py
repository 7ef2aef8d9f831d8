"""Scopes: what a token lets a program do, and what its owner's role has to allow for that at each use."""

from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib.auth.models import User

from console.permissions import (
    PERMISSIONS,
    Guard,
    members_only,
    releasers_only,
    researchers_only,
    reviewers_only,
    stewards_only,
)


@dataclass(frozen=True)
class Scope:
    """What a scope lets a program do, and whom it can be given to."""

    meaning: str
    guard: Guard

    def suits(self, user: User) -> bool:
        """Whether the role of the user allows it."""
        return user.is_active and self.guard.may(user)


SCOPES = {
    "data:read": Scope("read collections, their images, captions and matches", members_only),
    "data:write": Scope("upload files and import them into collections", researchers_only),
    "retrieval:read": Scope("read samples, annotators, searches and pools", members_only),
    "retrieval:write": Scope("draw samples, add annotators, search and pool", researchers_only),
    "rounds:read": Scope("read rounds, their progress and costs", members_only),
    "rounds:write": Scope("plan rounds", researchers_only),
    "rounds:spend": Scope("publish rounds, which costs money, and close them", researchers_only),
    "judgments:read": Scope("read judgments, under pseudonyms", members_only),
    "dataset:read": Scope("read verdicts, reviews and versions, and download them", members_only),
    "dataset:write": Scope("count the votes of rounds", researchers_only),
    "dataset:review": Scope("review pairs", reviewers_only),
    "dataset:release": Scope("release versions", releasers_only),
    "evaluation:read": Scope("read runs and scores", members_only),
    "evaluation:write": Scope("register rankings and score them", researchers_only),
    "jobs:read": Scope("read jobs and their progress", members_only),
    "jobs:write": Scope("cancel jobs", researchers_only),
    "events:read": Scope("read the list of events, as webhooks receive them", members_only),
    "webhooks:read": Scope("read webhooks and their deliveries", stewards_only),
    "webhooks:write": Scope("add, test and remove webhooks", stewards_only),
}


def scopes_of(user: User) -> list[str]:
    """Return the scopes that the role of the user allows."""
    return [name for name, scope in SCOPES.items() if scope.suits(user)]


@dataclass(frozen=True)
class _Holder:
    """An account with this role, or without one."""

    role: str
    is_active: ClassVar[bool] = True

    def has_perm(self, name: str) -> bool:
        return name.partition(".")[2] in PERMISSIONS.get(self.role, ())


ROLES = ("member", *PERMISSIONS)
"""Of accounts; a ``member`` has no role."""


def roles_that_may(scope: str | None, guard: Guard | None = None) -> list[str]:
    """Return the roles that a scope suits, where a ``guard`` does not keep them out."""
    guards = ([SCOPES[scope].guard] if scope else []) + ([guard] if guard else [])
    holders: list[Any] = [_Holder(role) for role in ROLES]
    return [holder.role for holder in holders if all(one.may(holder) for one in guards)]
