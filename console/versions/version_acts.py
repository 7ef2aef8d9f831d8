"""What people do with a version: publish or withdraw its page, verify, measure and export it."""

from collections.abc import Iterable

from django import forms
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.urls import reverse

from console.acts import Chosen, Landing, acts_of
from console.fields import asking
from console.jobs import start_measuring
from console.permissions import releasers_only, researchers_only
from console.places import page_of
from console.versions.views import version_or_404
from core.models import Job
from dataset.exports.downloads import choices
from dataset.jobs import start_export
from dataset.models import Version
from dataset.publications import publish, withdraw
from evaluation.jobs import start_verification

version_act = acts_of(Version, "versions/<slug:name>/", version_or_404, researchers_only)


def is_public(version: Version) -> bool:
    return hasattr(version, "publication")


def _what_publishing_means(version: Version) -> Iterable[str]:
    yield (
        f"Anybody with the link, {reverse('result', args=[version.name])}, can read it without an account: title, "
        "authors and citation, examples, scores, known biases and limits. It names no worker, no pay and no control."
    )
    if version.manifest["counts"]["simulated_votes"]:
        yield "Some votes are simulated; the page says so at its top."
    yield "You can withdraw it at any time; copies that others made stay."


@version_act(
    "publish",
    "Publish {}?",
    guard=releasers_only,
    form=asking(
        lambda version: model_to_dict(version.publication) if is_public(version) else None,
        picture_terms=forms.CharField(
            max_length=300,
            required=False,
            label="Licence or terms of the pictures",
            help_text="Shown under the pictures. Leave it empty to publish the page without pictures.",
        ),
        offers_files=forms.BooleanField(
            required=False,
            label="Offer the files for download",
            help_text="The matches, the judged pairs and the gallery; never the judgments of single workers.",
        ),
    ),
    asks=_what_publishing_means,
)
def version_publish(version: Version, chosen: Chosen, by: User) -> Landing:
    publish(version, **chosen, by=by)
    return Landing("The page is public. Anybody with the link can read it.", page_of(version))


@version_act("withdraw", "Withdraw {}?", guard=releasers_only, offered=is_public)
def version_withdraw(version: Version, chosen: Chosen, by: User) -> str:
    """The link of its public page, also in printed papers, then leads to a page that says it was not found."""
    if not withdraw(version, by=by):
        return "The page was not public."
    return "The page is withdrawn. Its link does not work until you publish it again."


@version_act("verify", "Verify {}?")
def version_verify(version: Version, chosen: Chosen, by: User) -> Job:
    """It is rebuilt from its judgments and compared with its files, which changes nothing."""
    return start_verification(version, by=by)


@version_act("trust/measure", "Measure {}?", offered=lambda version: version.rounds.exists())
def version_measure(version: Version, chosen: Chosen, by: User) -> Job:
    """The scores of its annotators, its completeness and its bias: in seconds to minutes."""
    return start_measuring(version, by=by)


def _formats() -> list[tuple[str, str]]:
    return [
        (what, f"{one.format} ({one.labels} labels)" if one.labels else what.replace("_", " with "))
        for what, one in choices().items()
    ]


@version_act("export", "Export {}", form=asking(what=forms.ChoiceField(label="Format", choices=_formats)))
def version_export(version: Version, chosen: Chosen, by: User) -> Job:
    """A job makes one archive of the version in this format. It is then among its files."""
    return start_export(version, chosen["what"], by=by)
