"""Groups of staff, their permissions, and the guards of pages: visitors who are not logged in are sent to the login,
members without the permission get a 403."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]


class StaffRequest(HttpRequest):
    """The request of a guarded view: its user has logged in."""

    user: User


members_only = login_required


def _holders_of(permission: str) -> Callable[[View], View]:
    def guard(view: View) -> View:
        return login_required(permission_required(permission, raise_exception=True)(view))

    return guard


def is_steward(user: User) -> bool:
    """Whether the user may do what researchers and reviewers both may."""
    return user.has_perm("hits.launch_round") or user.has_perm("annotation.decide_assignment")


def stewards_only(view: View) -> View:
    """Let in researchers and reviewers, who may exclude workers and send them messages."""

    @wraps(view)
    def guarded(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not is_steward(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return login_required(guarded)


researchers_only = _holders_of("hits.launch_round")
reviewers_only = _holders_of("annotation.decide_assignment")
payers_only = _holders_of("annotation.pay_workers")
releasers_only = _holders_of("dataset.release_version")


RESEARCHER, REVIEWER, ADMIN = "researcher", "reviewer", "admin"

PERMISSIONS = {
    RESEARCHER: ["launch_round"],
    REVIEWER: ["decide_assignment"],
    ADMIN: ["launch_round", "decide_assignment", "release_version", "pay_workers"],
}


def is_admin(user: User) -> bool:
    """Whether the user manages people: an active member of the group of admins, or a superuser."""
    return user.is_active and (user.is_superuser or user.groups.filter(name=ADMIN).exists())


def admins_only(view: View) -> View:
    """Let in who manages people."""

    @wraps(view)
    def guarded(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not is_admin(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return login_required(guarded)


def make_groups(**_: Any) -> None:
    """Create the groups with their permissions; runs after every migration, so that existing sites get new ones."""
    for name, codenames in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(codename__in=codenames))
