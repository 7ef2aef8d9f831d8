"""Add the key from which the order of a platform's pairs follows; ``crowd`` then copies what a platform says of work."""

from django.db import migrations, models
from django.db.models import F


def copy_keys(apps, schema_editor):
    assignments = apps.get_model("annotation", "Assignment")._base_manager.using(schema_editor.connection.alias)
    assignments.exclude(external_id="").update(outside_key=F("external_id"))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_squashed_0019_reports_of_items")]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="outside_key",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Its key outside, which the order of its pairs follows from; empty in the browser pool.",
                max_length=64,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(copy_keys, migrations.RunPython.noop),
    ]
