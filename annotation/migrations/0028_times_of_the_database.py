"""Times begin by the database's clock. A default is no part of the database, so that no table changes."""

import core.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0027_norms_measured_again"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="appeal",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="assignment",
                    name="leased_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="consent",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="consentsheet",
                    name="made_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="consentwords",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="controlruling",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="decision",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="draft",
                    name="saved_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="exclusion",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="invitation",
                    name="made_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="judgment",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="participant",
                    name="joined_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="pause",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="payment",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="qualificationtest",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="rejection",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="report",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="testattempt",
                    name="at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
                migrations.AlterField(
                    model_name="worker",
                    name="created_at",
                    field=models.DateTimeField(default=core.clock.now),
                ),
            ]
        )
    ]
