"""Public pages of versions: publishing one, withdrawing it, and the files and examples that it shows."""

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Exists, OuterRef

from core.events import record
from core.text import trimmed
from corpus.models import Match
from dataset.exports.statements import agreement
from dataset.models import Publication, Version
from dataset.secret_controls import are_pairs_secret
from dataset.versions.version_files import GALLERY, PAIRS, positives_file
from hits.question import Level
from mitl.models import Direction

EXAMPLES = 6
LOOKED_AT = 2_000  # matches that the examples are chosen from, so that a page of a large version stays quick


def publish(version: Version, *, picture_terms: str, offers_files: bool = False, by: User) -> Publication:
    """Make the version's page public. ``picture_terms`` is what the page says of the licence of its pictures; without
    it, the page shows none. ``offers_files``: it offers files, too. A public page gets the new terms."""
    agreed = agreement(version) if version.manifest["rounds"] else ""
    picture_terms = trimmed(picture_terms)
    with transaction.atomic():
        stated = {"picture_terms": picture_terms, "offers_files": offers_files, "published_by": by}
        publication, is_new = Publication.objects.update_or_create(
            version=version, defaults=stated, create_defaults={**stated, "agreement": agreed}
        )
        record(
            "result published" if is_new else "result changed",
            version,
            actor=by.get_username(),
            picture_terms=picture_terms,
            offers_files=offers_files,
        )
    return publication


def withdraw(version: Version, *, by: User) -> bool:
    """Take the version's page back; return whether it was public."""
    with transaction.atomic():
        deleted, _ = Publication.objects.filter(version=version).delete()
        if deleted:
            record("result withdrawn", version, actor=by.get_username())
    return bool(deleted)


def public_files(publication: Publication) -> list[str]:
    """Return the names of the files that the page offers: the matches, the judged pairs and the
    gallery, which name no worker. A version whose pairs would reveal secret controls offers none."""
    version = publication.version
    if not publication.offers_files or are_pairs_secret(version, AnonymousUser()):
        return []
    offered = {PAIRS, GALLERY, *(positives_file(version.name, direction) for direction in Direction)}
    return [name for name in version.manifest["files"] if name in offered]


def examples_of(version: Version) -> list[Match]:
    """Return verified matches that are not original pairs, best first, each of a different picture, evenly spread over
    the first LOOKED_AT. A version whose pairs would reveal secret controls has no examples, as its page is public."""
    if are_pairs_secret(version, AnonymousUser()):
        return []
    original = Match.objects.filter(
        collection=version.collection_id, source=Match.ORIGINAL, image=OuterRef("image"), caption=OuterRef("caption")
    )
    found = Match.objects.filter(
        collection=version.collection_id,
        source=version.name,
        score=1,
        grade__in=(Level.YES, Level.PARTIALLY_YES),
        image__excluded_at=None,
        caption__excluded_at=None,
        caption__image__excluded_at=None,
    ).exclude(Exists(original))
    rows = found.order_by("image_id", "caption_id").values_list("pk", "image_id")[:LOOKED_AT]
    of_pictures = list({image: match for match, image in rows}.values())
    chosen = of_pictures[:: max(1, len(of_pictures) // EXAMPLES)][:EXAMPLES]
    matches = Match.objects.filter(pk__in=chosen).select_related("image", "caption__image")
    return sorted(matches, key=lambda match: (match.grade or 0, match.image_id))
