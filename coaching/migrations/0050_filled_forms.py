"""What tells copies of a filled form apart."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("coaching", "0049_reading_note")]

    operations = [
        migrations.AddField(
            model_name="documenttext",
            name="filled",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
    ]
