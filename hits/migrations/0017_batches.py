"""Note which import added a seat."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("corpus", "0008_batches"),
        ("hits", "0016_times_of_the_database"),
    ]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that added it.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
    ]
