"""The names that the admin's start page gives to card counts and verdicts on captures."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("coaching", "0071_step_month_day_valid")]

    operations = [
        migrations.AlterModelOptions(
            name="captureverdict",
            options={
                "verbose_name": "safety check of a capture",
                "verbose_name_plural": "safety checks of captures",
            },
        ),
        migrations.AlterModelOptions(
            name="cardcount",
            options={
                "ordering": ["-day", "level"],
                "verbose_name": "count of safety cards",
                "verbose_name_plural": "safety cards shown",
            },
        ),
    ]
