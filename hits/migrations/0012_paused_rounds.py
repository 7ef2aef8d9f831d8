from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("hits", "0011_rejected_pairs"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="paused_at",
            field=models.DateTimeField(help_text="Since when a person has it take nobody new.", null=True),
        ),
    ]
