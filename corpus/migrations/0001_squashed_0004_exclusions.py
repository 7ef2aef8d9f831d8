"""The tables of corpus at 0.3.1."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('corpus', '0001_initial'),
        ('corpus', '0002_clean_up'),
        ('corpus', '0003_looks_default'),
        ('corpus', '0004_exclusions'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('description', models.TextField(blank=True)),
                ('sealed_sources', models.JSONField(default=list, help_text='Match sources that must not change: released versions.')),
                ('drawn', models.JSONField(editable=False, help_text='Size and seed of a drawn demo collection; null if it was imported.', null=True)),
                ('two_reviewers', models.BooleanField(default=False, help_text='A review that changes the dataset holds only when a second person has agreed.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('excluded_at', models.DateTimeField(editable=False, help_text='Set by the review that excludes it.', null=True)),
                ('key', models.CharField(max_length=120)),
                ('file_name', models.CharField(max_length=255)),
                ('file', models.CharField(blank=True, help_text='Path in the storage; empty until the picture is imported.', max_length=400)),
                ('width', models.PositiveIntegerField(null=True)),
                ('height', models.PositiveIntegerField(null=True)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('split', models.CharField(blank=True, max_length=20)),
                ('look', models.CharField(blank=True, db_default='', default='', help_text='Perceptual hash, 64 bits in hex; empty until the clean-up needs it.', max_length=16)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='corpus.collection')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Caption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('excluded_at', models.DateTimeField(editable=False, help_text='Set by the review that excludes it.', null=True)),
                ('key', models.CharField(max_length=120)),
                ('text', models.TextField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='corpus.collection')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='corpus.image')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Match',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=80)),
                ('score', models.FloatField(null=True)),
                ('grade', models.PositiveSmallIntegerField(null=True)),
                ('caption', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='corpus.caption')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='corpus.collection')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='corpus.image')),
            ],
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('seed', models.BigIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('captions', models.ManyToManyField(related_name='+', to='corpus.caption')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='corpus.collection')),
                ('images', models.ManyToManyField(related_name='+', to='corpus.image')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddConstraint(
            model_name='image',
            constraint=models.UniqueConstraint(fields=('collection', 'key'), name='image_key_in_collection'),
        ),
        migrations.AddConstraint(
            model_name='caption',
            constraint=models.UniqueConstraint(fields=('collection', 'key'), name='caption_key_in_collection'),
        ),
        migrations.AddConstraint(
            model_name='match',
            constraint=models.UniqueConstraint(fields=('collection', 'source', 'image', 'caption'), name='match_once_per_source'),
        ),
        migrations.AddConstraint(
            model_name='match',
            constraint=models.CheckConstraint(condition=models.Q(('grade__isnull', True), ('grade__range', (1, 4)), _connector='OR'), name='match_grade'),
        ),
    ]
