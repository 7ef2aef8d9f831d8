"""One's webhooks: added, tested, switched, given a new secret and removed; their deliveries, which can be sent again.

Only their owner sees them, as an address may be as secret as a password. Events show their hosts to all staff.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.pagination import page_of
from console.permissions import StaffRequest, stewards_only
from console.refusals import refusals_as_messages, refusals_in
from console.tokens.views import show_secret
from integrations.deliveries import send_again
from integrations.models import Webhook
from integrations.notifications import TYPES
from integrations.webhooks import (
    LONGEST_URL,
    add_webhook,
    remove_webhook,
    renew_secret,
    secret_of,
    send_test,
    switch_off,
    switch_on,
)


class WebhookForm(forms.Form):
    """Where notifications are sent, and which."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label="Address",
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://example.org/counterpart"}),
        help_text="Of a program of yours that the public internet reaches by https.",
    )
    types = forms.MultipleChoiceField(
        label="Which notifications does it get?",
        widget=forms.CheckboxSelectMultiple,
        choices=list(TYPES.items()),
        error_messages={"required": "Choose at least one."},
    )


LISTED = 15  # on a phone each takes a quarter of the screen


@stewards_only.fills("webhooks/add/")
def webhook_add(request: StaffRequest) -> HttpResponse:
    """Add a webhook and show its secret."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            return _show_secret(request, add_webhook(request.user, **form.cleaned_data))
    return render(request, "console/webhooks/webhook_add.html", {"form": form}, status=422 if form.errors else 200)


@stewards_only.reads("webhooks/<uuid:webhook_id>/")
def webhook(request: StaffRequest, webhook_id: UUID) -> HttpResponse:
    """One webhook and its deliveries, the latest first."""
    found = _own(request, webhook_id)
    deliveries = found.deliveries.select_related("notification").order_by("-pk")
    context = {"webhook": found, "rows": page_of(request, deliveries, size=LISTED), "things": "deliveries"}
    return render(request, "console/webhooks/webhook.html", context)


@stewards_only.acts("webhooks/<uuid:webhook_id>/secret/")
def webhook_secret(request: StaffRequest, webhook_id: UUID) -> HttpResponse:
    """Replace the secret that the page was opened with, and show the new one."""
    found = _own(request, webhook_id)
    if request.POST.get("generation") == str(found.generation) and renew_secret(found, by=request.user):
        return _show_secret(request, _own(request, webhook_id))
    messages.error(request, "The secret was changed since this page was opened. Nothing was changed now.")
    return redirect("webhook", found.pk)


ACTS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "test": (lambda webhook, by: send_test(webhook), "A test is being sent. Reload the page to see its outcome."),
    "on": (switch_on, "The webhook is on. It gets all notifications from now on."),
    "off": (switch_off, "The webhook is off. Waiting notifications are not sent."),
    "remove": (remove_webhook, "The webhook to {} is removed, with the list of its deliveries."),
}


@stewards_only.acts("webhooks/<uuid:webhook_id>/<slug:word>/")
def webhook_act(request: StaffRequest, webhook_id: UUID, word: str) -> HttpResponse:
    """Test the webhook, switch it on or off, or remove it."""
    found = _own(request, webhook_id)
    if word not in ACTS:
        raise Http404
    perform, text = ACTS[word]
    with refusals_as_messages(request):
        perform(found, by=request.user)
        messages.success(request, text.format(found.host))
    return redirect("tokens") if word == "remove" else redirect("webhook", webhook_id)


@stewards_only.acts("webhooks/<uuid:webhook_id>/deliveries/<int:delivery_id>/send/")
def delivery_send(request: StaffRequest, webhook_id: UUID, delivery_id: int) -> HttpResponse:
    """Send one delivery again."""
    found = _own(request, webhook_id)
    delivery = get_object_or_404(found.deliveries.select_related("webhook"), pk=delivery_id)
    with refusals_as_messages(request):
        send_again(delivery)
        messages.success(request, "It is being sent again. Reload the page to see the outcome.")
    return redirect("webhook", found.pk)


def _own(request: StaffRequest, webhook_id: UUID) -> Webhook:
    return get_object_or_404(request.user.webhooks, pk=webhook_id)


def _show_secret(request: StaffRequest, webhook: Webhook) -> HttpResponse:
    return show_secret(request, secret_of(webhook), webhook=webhook)
