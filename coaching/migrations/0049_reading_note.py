"""What of a document isn't in its text: kept for its page and for models."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("coaching", "0048_letters")]

    operations = [
        migrations.AddField(
            model_name="document",
            name="reading_note",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
