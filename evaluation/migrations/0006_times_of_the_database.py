"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0005_scores_on_original_matches"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="run",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
            ]
        )
    ]
