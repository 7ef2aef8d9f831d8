"""One batch for each collection and each match source that is not sealed, of the imports so far: no other row changes,
and sources are found by a look into their index each."""

from django.db import migrations
from django.db.models import Min


def note_earlier_batches(apps, schema_editor):
    batches = apps.get_model("corpus", "Batch").objects
    matches = apps.get_model("corpus", "Match").objects
    for collection in apps.get_model("corpus", "Collection").objects.order_by("pk"):
        when = collection.created_at
        batches.create(name=f"{collection.name}-1", collection=collection, kind="collection", created_at=when)
        number = 1
        source = ""
        while source := matches.filter(collection=collection, source__gt=source).aggregate(n=Min("source"))["n"]:
            if source != "original" and source not in collection.sealed_sources:
                number += 1
                batches.create(
                    name=f"{collection.name}-{number}",
                    collection=collection,
                    kind="matches",
                    source=source,
                    created_at=when,
                )


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0008_batches"),
    ]

    operations = [migrations.RunPython(note_earlier_batches, migrations.RunPython.noop)]
