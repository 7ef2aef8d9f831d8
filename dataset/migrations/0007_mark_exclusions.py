from django.db import migrations
from django.db.models import Q


def mark_exclusions(apps, schema_editor):
    """Mark the captions and images whose latest review that holds excludes them."""
    Review = apps.get_model("dataset", "Review")
    alias = schema_editor.connection.alias
    settled = Review.objects.using(alias).filter(Q(needs_second=False) | Q(seconded_at__isnull=False))
    for side, other in (("image", "caption"), ("caption", "image")):
        reviews = settled.filter(**{other: None}).order_by("pk")
        latest = {getattr(review, f"{side}_id"): review for review in reviews}
        for key, review in latest.items():
            if review.conclusion == "excluded":
                rows = apps.get_model("corpus", side.title()).objects.using(alias).filter(pk=key)
                rows.update(excluded_at=review.seconded_at or review.at)


class Migration(migrations.Migration):

    dependencies = [
        ('corpus', '0004_exclusions'),
        ('dataset', '0006_no_fingerprint'),
    ]

    operations = [migrations.RunPython(mark_exclusions, migrations.RunPython.noop)]
