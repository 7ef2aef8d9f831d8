from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("dataset", "0013_times_of_the_database"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReleaseLease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("folder", models.CharField(max_length=200, unique=True)),
                ("until", models.DateTimeField()),
            ],
        ),
    ]
