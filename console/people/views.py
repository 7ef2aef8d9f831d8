"""People who work here: invitations, roles, deactivation and password links, for admins; one's own password."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.auth.views import (
    INTERNAL_RESET_SESSION_TOKEN,
    LoginView,
    LogoutView,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.contrib.messages.views import SuccessMessageMixin
from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache

from console.pagination import page_of
from console.people.staff import (
    change,
    invite,
    is_operator,
    mail_forgotten,
    mail_link,
    password_link,
    roles_of,
    use_link,
)
from console.permissions import ADMIN, RESEARCHER, REVIEWER, StaffRequest, admins_only, page
from console.refusals import refusals_as_messages, refusals_in
from core.events import record
from core.health.checks import examine
from core.web.throttles import Throttle

WHAT_ROLES_DO = {
    RESEARCHER: "imports collections, adds annotators, plans, publishes and closes rounds",
    REVIEWER: "decides on flagged work and on disagreements",
    ADMIN: "does all of that, releases versions, sees whom to pay, and manages people",
}


class RolesForm(forms.Form):
    """The roles of a person. Without one, they may only read."""

    roles = forms.MultipleChoiceField(
        required=False,
        choices=[(role, f"{role}: {does}") for role, does in WHAT_ROLES_DO.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="Without a role, a person may see all pages except the identities of workers.",
    )


class PersonForm(RolesForm):
    """The roles of a person, and whether they may log in."""

    active = forms.BooleanField(
        required=False,
        label="May log in",
        help_text="Without it, they are logged out at once and their tokens are void. What they did stays.",
    )


class InviteForm(RolesForm):
    """A new account."""

    username = forms.CharField(max_length=150, label="User name", validators=[UnicodeUsernameValidator()])
    email = forms.EmailField(required=False, label="E-mail address", help_text="Only to send them their links.")
    field_order = ("username", "email", "roles")


@admins_only.fills("staff/")
def staff(request: StaffRequest) -> HttpResponse:
    """List all accounts; on POST invite a person and show their link."""
    form = InviteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            return _show_link(request, invite(**form.cleaned_data, by=request.user))
    # Active accounts first.
    page = page_of(request, User.objects.prefetch_related("groups").order_by("-is_active", "username"))
    context = {"rows": page, "lines": [(one, roles_of(one)) for one in page], "form": form}
    return render(request, "console/people/staff.html", context, status=422 if form.errors else 200)


@admins_only.fills("doctor/")
def doctor(request: StaffRequest) -> HttpResponse:
    """Check the installation on POST, as the command ``doctor`` does."""
    findings = list(examine()) if request.method == "POST" else None
    wrong = sum(bool(one.change) for one in findings or ())
    return render(request, "console/people/doctor.html", {"findings": findings, "wrong": wrong})


@admins_only.fills("staff/<int:user_id>/")
def person(request: StaffRequest, user_id: int) -> HttpResponse:
    """One account; on POST change its roles, and whether it may log in."""
    found = get_object_or_404(User, pk=user_id)
    held = {"roles": roles_of(found), "active": found.is_active}
    form = PersonForm(request.POST if request.method == "POST" else None, initial=held)
    if form.is_valid():
        with refusals_in(form):
            if change(found, **form.cleaned_data, by=request.user):
                messages.success(request, f"The account {found} is changed.")
            return redirect("staff")
    fixed = is_operator(found) or found.pk == request.user.pk
    context = {"person": found, "form": form, "fixed": fixed, "tokens": found.tokens.select_related("owner")[:25]}
    return render(request, "console/people/person.html", context, status=422 if form.errors else 200)


@admins_only.acts("staff/<int:user_id>/link/")
@never_cache
def person_link(request: StaffRequest, user_id: int) -> HttpResponse:
    """Make a link with which the person sets a new password, and show it."""
    found = get_object_or_404(User, pk=user_id)
    with refusals_as_messages(request):
        return _show_link(request, found)
    return redirect("person", user_id)


def _show_link(request: StaffRequest, found: User) -> HttpResponse:
    link = password_link(found, by=request.user)
    days = settings.PASSWORD_RESET_TIMEOUT // 86_400
    context = {"person": found, "link": link, "mailed": mail_link(found, link), "days": days}
    response = render(request, "console/people/person_link.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


class _Recorded(SuccessMessageMixin):
    """A password view that leaves an event."""

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            record("password set", form.user, actor=form.user.get_username())
        return response


class SetPassword(_Recorded, PasswordResetConfirmView):
    """The page of a password link. A click on its button uses the link up: then only that browser can set the password.

    Mail scanners open links before their readers do, so opening a link changes nothing.
    """

    template_name = "console/people/password_set.html"
    success_url = reverse_lazy("login")
    success_message = "Your password is set. Log in with it."

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        person = self.get_user(kwargs["uidb64"])
        if person is None or not self.token_generator.check_token(person, kwargs["token"]):
            return super().dispatch(*args, **kwargs)  # the form after the click, or the page of a void link
        if self.request.method != "POST":
            return render(self.request, "console/people/password_link.html", {"person": person})
        if token := use_link(person):
            self.request.session[INTERNAL_RESET_SESSION_TOKEN] = token
            return redirect("password_set", kwargs["uidb64"], self.reset_url_token)
        return super().dispatch(*args, **kwargs)


FORGOTTEN = Throttle("PASSWORD_MAILS_PER_HOUR")


class ForgottenPassword(PasswordResetView):
    """The page on which a person requests a password link by mail. Its answer is the same for every address."""

    template_name = "console/people/password_forgotten.html"

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.EMAIL_HOST:
            raise Http404("This site sends no mail. Ask an admin for a password link.")
        return super().dispatch(*args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        if not FORGOTTEN.admits(self.request, "password"):
            form.add_error(None, "Too many requests from your network. Try again in an hour, or ask an admin.")
            return self.render_to_response(self.get_context_data(form=form), status=429)
        messages.success(
            self.request,
            "If an account has this address, we send a link to it. It works once. If no mail comes, ask an admin.",
        )
        mail_forgotten.delay(form.cleaned_data["email"])  # a task, so that all addresses take the same time
        return redirect("login")


class ChangePassword(_Recorded, PasswordChangeView):
    """One's own password."""

    template_name = "console/people/password.html"
    success_url = reverse_lazy("home")
    success_message = "Your password is changed. You are logged out everywhere else."


page("login/", "login")(
    LoginView.as_view(
        template_name="console/people/login.html",
        redirect_authenticated_user=True,
        extra_context={"mails": lambda: bool(settings.EMAIL_HOST)},
    )
)
page("logout/", "logout")(LogoutView.as_view())
page("password/", "password")(ChangePassword.as_view())
page("password/forgotten/", "password_forgotten")(ForgottenPassword.as_view())
page("password/<uidb64>/<token>/", "password_set")(never_cache(SetPassword.as_view()))
