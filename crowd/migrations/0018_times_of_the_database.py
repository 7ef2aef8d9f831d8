"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0017_states_of_studies"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="accountbalance",
                    name="changed_at",
                    field=models.DateTimeField(
                        default=core.clock.now, help_text="When this amount was first read."
                    ),
                ),
                migrations.AlterField(
                    model_name="audit",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="hint",
                    name="at",
                    field=models.DateTimeField(db_index=True, default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="message",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="outbox",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="outbox",
                    name="due_at",
                    field=models.DateTimeField(
                        default=core.clock.now,
                        help_text="It is made after this time. If it is being made, it is lost after this time.",
                    ),
                ),
                migrations.AlterField(
                    model_name="posting",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="sync",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
            ]
        )
    ]
