from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    """Every posting so far is of a HIT, whose round it gets."""
    database = schema_editor.connection.alias
    hits = apps.get_model("hits", "HIT").objects.filter(pk=OuterRef("hit"))
    postings = apps.get_model("crowd", "Posting").objects.using(database)
    postings.update(round=Subquery(hits.values("round")))


class Migration(migrations.Migration):
    dependencies = [("crowd", "0007_posting_round")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
