"""Who may enter which page: a stranger is sent to the login, a member without the permission gets a 403."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

View = Callable[..., HttpResponse]


class StaffRequest(HttpRequest):
    """What a guarded view is given: its user has logged in."""

    user: User


members_only = login_required


def _holders_of(permission: str) -> Callable[[View], View]:
    def guard(view: View) -> View:
        return login_required(permission_required(permission, raise_exception=True)(view))

    return guard


def _holders_of_any(*permissions: str) -> Callable[[View], View]:
    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponse:
            if not any(request.user.has_perm(permission) for permission in permissions):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return login_required(guarded)

    return guard


researchers_only = _holders_of("hits.launch_round")
reviewers_only = _holders_of("annotation.decide_assignment")
# Who may exclude workers and write to them.
stewards_only = _holders_of_any("hits.launch_round", "annotation.decide_assignment")
payers_only = _holders_of("annotation.pay_workers")
releasers_only = _holders_of("dataset.release_version")
