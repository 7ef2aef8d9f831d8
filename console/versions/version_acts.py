"""What people do with a version: publish or withdraw its page, verify, measure and export it."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse

from console.acts import Chosen, Landing, act
from console.jobs import start_measuring
from console.permissions import releasers_only, researchers_only
from console.versions.forms import ExportForm, PublishForm
from console.versions.views import version_or_404
from core.models import Job
from dataset.jobs import start_export
from dataset.models import Publication, Version
from dataset.publications import publish, withdraw
from evaluation.jobs import start_verification


def is_public(version: Version) -> bool:
    return Publication.objects.filter(version=version).exists()


def _publishing(data: QueryDict | None, version: Version) -> PublishForm:
    known = Publication.objects.filter(version=version).values("picture_terms", "offers_files").first()
    return PublishForm(data, initial=dict(known or {}))


def _what_publishing_means(version: Version) -> Iterable[str]:
    yield (
        f"Anybody with the link, {reverse('result', args=[version.name])}, can read it without an account: title, "
        "authors and citation, examples, scores, known biases and limits. It names no worker, no pay and no control."
    )
    if version.manifest["counts"]["simulated_votes"]:
        yield "Some votes are simulated; the page says so at its top."
    yield "You can withdraw it at any time; copies that others made stay."


@act(
    "versions/<slug:name>/publish/",
    version_or_404,
    releasers_only,
    label="Publish",
    question="Publish the page of {}?",
    form=_publishing,
    asks=_what_publishing_means,
    menu=Version,
)
def version_publish(version: Version, chosen: Chosen, by: User) -> Landing:
    publish(version, **chosen, by=by)
    return Landing("The page is public. Anybody with the link can read it.", reverse("version", args=[version.name]))


@act(
    "versions/<slug:name>/withdraw/",
    version_or_404,
    releasers_only,
    label="Withdraw",
    question="Withdraw the public page of {}?",
    asks=lambda version: ["Its link, also in printed papers, then leads to a page that says it was not found."],
    offered=is_public,
    menu=Version,
)
def version_withdraw(version: Version, chosen: Chosen, by: User) -> str:
    if not withdraw(version, by=by):
        return "The page was not public."
    return "The page is withdrawn. Its link does not work until you publish it again."


@act(
    "versions/<slug:name>/verify/",
    version_or_404,
    researchers_only,
    label="Verify",
    question="Verify {}?",
    asks=lambda version: ["It is rebuilt from its judgments and compared with its files, which changes nothing."],
    menu=Version,
)
def version_verify(version: Version, chosen: Chosen, by: User) -> Job:
    return start_verification(version, by=by)


@act(
    "versions/<slug:name>/trust/measure/",
    version_or_404,
    researchers_only,
    label="Measure",
    question="Measure how good {} is?",
    asks=lambda version: ["The scores of its annotators, its completeness and its bias: in seconds to minutes."],
    offered=lambda version: version.rounds.exists(),
    menu=Version,
)
def version_measure(version: Version, chosen: Chosen, by: User) -> Job:
    return start_measuring(version, by=by)


@act(
    "versions/<slug:name>/export/",
    version_or_404,
    researchers_only,
    label="Export",
    question="Export {}",
    form=lambda data, version: ExportForm(data),
    menu=Version,
)
def version_export(version: Version, chosen: Chosen, by: User) -> Job:
    return start_export(version, chosen["what"], by=by)
