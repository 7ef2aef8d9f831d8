"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("core", "0004_asked"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="event",
                    name="at",
                    field=models.DateTimeField(db_index=True, default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="job",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="job",
                    name="heartbeat_at",
                    field=models.DateTimeField(
                        default=core.clock.now,
                        help_text="Last sign of life; an old one means a lost process.",
                    ),
                ),
            ]
        )
    ]
