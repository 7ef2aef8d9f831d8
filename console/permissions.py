"""Groups of staff, their permissions, and the guards of pages, which also give each page its address."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dataset.secret_controls import SecretControls, has_role

View = Callable[..., HttpResponseBase]
PAGES: list[URLPattern] = []
"""The addresses of all pages and acts that were declared."""


def page(address: str, name: str = "") -> Callable[[View], View]:
    """Give a view its address, under the name of the function or another one."""

    def declare(view: View) -> View:
        PAGES.append(path(address, view, name=name or view.__name__))
        return view

    return declare


class StaffRequest(HttpRequest):
    """The request of a guarded view: its user has logged in."""

    user: User


class Guard:
    """Lets in the users who ``may`` use a page. Visitors who are not logged in are sent to the login, others get a 403.

    ``reads`` guards a page that is only shown, ``fills`` one with a form that is sent to its own address, ``acts``
    the view of a button; each takes the address. A page that would reveal secret controls is a 403, too.
    """

    def __init__(self, may: Callable[[User], bool]) -> None:
        self.may = may

    def __call__(self, view: View) -> View:
        @wraps(view)
        def guarded(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(_page_of(request))
            if not self.may(request.user):
                raise PermissionDenied
            try:
                return view(request, *args, **kwargs)
            except SecretControls as error:
                raise PermissionDenied(str(error)) from error

        return guarded

    def reads(self, address: str) -> Callable[[View], View]:
        return lambda view: page(address)(self(require_safe(view)))

    def fills(self, address: str, name: str = "") -> Callable[[View], View]:
        return lambda view: page(address, name)(self(require_http_methods(["GET", "HEAD", "POST"])(view)))

    def acts(self, address: str) -> Callable[[View], View]:
        return lambda view: page(address)(self(require_POST(view)))


def _page_of(request: HttpRequest) -> str:
    """Return the page to come back to after the login: that of a form, which is filled in again."""
    came = urlsplit(request.headers.get("Referer", ""))
    if request.method == "POST" and came.netloc == request.get_host():
        return urlunsplit(("", "", came.path, came.query, ""))
    return request.get_full_path()


RESEARCHER = "researcher"
REVIEWER = "reviewer"
ADMIN = "admin"

PERMISSIONS = {
    RESEARCHER: ["launch_round"],
    REVIEWER: ["decide_assignment"],
    ADMIN: ["launch_round", "publish_below_floor", "decide_assignment", "release_version", "pay_workers"],
}


def is_admin(user: User) -> bool:
    """Whether the user manages people: an active member of the group of admins, or a superuser."""
    return user.is_active and (user.is_superuser or user.groups.filter(name=ADMIN).exists())


members_only = Guard(lambda user: True)
researchers_only = Guard(lambda user: user.has_perm("hits.launch_round"))
reviewers_only = Guard(lambda user: user.has_perm("annotation.decide_assignment"))
payers_only = Guard(lambda user: user.has_perm("annotation.pay_workers"))
releasers_only = Guard(lambda user: user.has_perm("dataset.release_version"))
stewards_only = Guard(has_role)
admins_only = Guard(is_admin)


def make_groups(**_: Any) -> None:
    """Create the groups with their permissions; runs after every migration, so that existing sites get new ones."""
    for name, codenames in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(codename__in=codenames))
