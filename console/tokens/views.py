"""The page of a person's tokens and webhooks; for admins the tokens of all. Their texts are shown once."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.api.access_tokens import MOST_DAYS, USUAL_DAYS, make_token, revoke_token
from console.api.scopes import SCOPES, scopes_of
from console.pagination import page_of
from console.permissions import StaffRequest, is_admin, members_only, stewards_only
from console.refusals import refusals_in
from core.parameters import NamesField
from integrations.models import Token


class TokenForm(forms.Form):
    """What a token of the person lets a program do, and for how long."""

    name = forms.CharField(max_length=80, label="What is it for?", help_text="For example: notebook on my laptop.")
    scopes = forms.MultipleChoiceField(
        label="What may the program do?",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one."},
    )
    days = forms.IntegerField(
        label="Days", min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS, help_text="Then it expires."
    )
    networks = NamesField(
        label="Networks",
        required=False,
        help_text="Where it may be used, such as 192.0.2.0/24, with commas between them. Empty: anywhere.",
    )

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data)
        self.fields["scopes"].choices = [(name, SCOPES[name].meaning) for name in scopes_of(owner)]  # type: ignore[attr-defined]

    def subjects(self) -> dict[str, list[Any]]:
        """Return the boxes of the scopes by their subject."""
        boxes: dict[str, list[Any]] = {}
        for box in self["scopes"]:
            boxes.setdefault(box.data["value"].partition(":")[0], []).append(box)
        return boxes


@members_only.fills("tokens/")
def tokens(request: StaffRequest) -> HttpResponse:
    """List the person's tokens and webhooks, or the tokens of all for admins with ``?of=everybody``; on POST make a
    token and show its text."""
    form = TokenForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            made, text = make_token(request.user, **form.cleaned_data)
            return show_secret(request, text, token=made)
    of_everybody = request.GET.get("of") == "everybody" and is_admin(request.user)
    found = Token.objects.select_related("owner")
    context = {
        "rows": page_of(request, found if of_everybody else found.filter(owner=request.user), size=25),
        "form": form,
        "of_everybody": of_everybody,
        "sees_everybody": is_admin(request.user),
        "has_webhooks": stewards_only.may(request.user),
        "webhooks": request.user.webhooks.all(),
    }
    return render(request, "console/tokens/tokens.html", context, status=422 if form.errors else 200)


@members_only.acts("tokens/<int:token_id>/revoke/")
def token_revoke(request: StaffRequest, token_id: int) -> HttpResponse:
    """Revoke a token, one's own or as an admin that of another person."""
    token = get_object_or_404(Token.objects.select_related("owner"), pk=token_id)
    if token.owner != request.user and not is_admin(request.user):
        raise Http404
    if revoke_token(token, by=request.user):
        messages.success(request, f"The token {token} is revoked. Programs that have it are refused from now on.")
    return redirect("tokens") if token.owner == request.user else redirect("person", token.owner_id)


def show_secret(request: StaffRequest, secret: str, **of: Any) -> HttpResponse:
    """Show the text of a token or the secret of a webhook; no cache keeps the page."""
    response = render(request, "console/tokens/secret.html", {"secret": secret, **of})
    response["Cache-Control"] = "private, no-store"
    return response
