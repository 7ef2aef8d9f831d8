"""Note the language of a collection's captions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("corpus", "0005_galleries"),
    ]

    operations = [
        migrations.AddField(
            model_name="collection",
            name="language",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Language of the captions, as a BCP 47 tag; empty: not known.",
                max_length=35,
            ),
        ),
    ]
