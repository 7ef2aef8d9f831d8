"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("integrations", "0001_initial"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="delivery",
                    name="due_at",
                    field=models.DateTimeField(
                        db_index=True,
                        default=core.clock.now,
                        help_text="Null: not tried again.",
                        null=True,
                    ),
                ),
                migrations.AlterField(
                    model_name="keptanswer",
                    name="at",
                    field=models.DateTimeField(db_index=True, default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="notification",
                    name="at",
                    field=models.DateTimeField(db_index=True, default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="token",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="webhook",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
            ]
        )
    ]
