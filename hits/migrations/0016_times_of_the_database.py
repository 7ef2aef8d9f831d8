"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("hits", "0015_asked"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="round",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="topup",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
            ]
        )
    ]
