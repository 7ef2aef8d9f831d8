"""Note which import brought an answer set."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0028_times_of_the_database"),
        ("corpus", "0008_batches"),
        ("hits", "0017_batches"),
    ]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that brought it.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("batch__isnull", False)),
                fields=["batch"],
                name="assignments_of_a_batch",
            ),
        ),
    ]
