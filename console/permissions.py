"""Groups of staff, their permissions, and the guards of pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = Callable[..., HttpResponseBase]


class StaffRequest(HttpRequest):
    """The request of a guarded view: its user has logged in."""

    user: User


class Guard:
    """Lets in who ``may`` use a page: visitors who are not logged in are sent to the login, others get a 403.

    ``reads`` guards a page that is only shown, ``fills`` one with a form that is sent to its own address, ``acts`` what
    a button does.
    """

    def __init__(self, may: Callable[[User], bool]) -> None:
        self.may = may

    def __call__(self, view: View) -> View:
        @wraps(view)
        def guarded(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if not self.may(request.user):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return login_required(guarded)

    def reads(self, view: View) -> View:
        return self(require_safe(view))

    def fills(self, view: View) -> View:
        return self(require_http_methods(["GET", "HEAD", "POST"])(view))

    def acts(self, view: View) -> View:
        return self(require_POST(view))


def is_steward(user: User) -> bool:
    """Whether the user may do what researchers and reviewers both may, such as exclude workers."""
    return user.has_perm("hits.launch_round") or user.has_perm("annotation.decide_assignment")


RESEARCHER, REVIEWER, ADMIN = "researcher", "reviewer", "admin"

PERMISSIONS = {
    RESEARCHER: ["launch_round"],
    REVIEWER: ["decide_assignment"],
    ADMIN: ["launch_round", "decide_assignment", "release_version", "pay_workers"],
}


def is_admin(user: User) -> bool:
    """Whether the user manages people: an active member of the group of admins, or a superuser."""
    return user.is_active and (user.is_superuser or user.groups.filter(name=ADMIN).exists())


members_only = Guard(lambda user: True)
researchers_only = Guard(lambda user: user.has_perm("hits.launch_round"))
reviewers_only = Guard(lambda user: user.has_perm("annotation.decide_assignment"))
payers_only = Guard(lambda user: user.has_perm("annotation.pay_workers"))
releasers_only = Guard(lambda user: user.has_perm("dataset.release_version"))
stewards_only = Guard(is_steward)
admins_only = Guard(is_admin)


def make_groups(**_: Any) -> None:
    """Create the groups with their permissions; runs after every migration, so that existing sites get new ones."""
    for name, codenames in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(codename__in=codenames))
