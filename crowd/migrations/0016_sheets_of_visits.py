"""Note which consent sheet a claim was made on."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0026_consent_in_a_round"),
        ("crowd", "0015_pauses_of_rounds"),
    ]

    operations = [
        migrations.AddField(
            model_name="visit",
            name="sheet",
            field=models.ForeignKey(
                help_text="What the worker of a claim agreed to; noted as their consent once the platform confirms it.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.consentsheet",
            ),
        ),
    ]
