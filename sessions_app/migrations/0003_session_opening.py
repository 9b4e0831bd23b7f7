from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0002_leases_and_stops"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="opening",
            field=models.TextField(
                blank=True, default="", help_text="What is sent before the window, as canonical JSON text."
            ),
        ),
    ]
