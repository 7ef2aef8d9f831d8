import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("crowd", "0006_prolong_call"),
        ("hits", "__first__"),
    ]

    operations = [
        migrations.AddField(
            model_name="posting",
            name="round",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="postings", to="hits.round"
            ),
        ),
    ]
