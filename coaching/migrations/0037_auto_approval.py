"""Standing yeses are auto-approvals now, and knowledge entries have the sentence that they come from."""

from django.conf import settings
from django.db import migrations, models

KINDS = ["document_summary", "deal_update", "call_transcript", "note", "action_item"]
KNOWN = models.Q(("kind__in", KINDS))


class Migration(migrations.Migration):
    dependencies = [
        ("coaching", "0036_care"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint("standingyes", "standing_yes_once"),
        migrations.RemoveConstraint("standingyes", "standing_yes_kind_known"),
        migrations.RenameModel("StandingYes", "AutoApproval"),
        migrations.AlterModelOptions("autoapproval", {}),
        migrations.AlterField(
            "autoapproval",
            "user",
            models.ForeignKey(
                on_delete=models.CASCADE, related_name="auto_approvals", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            "autoapproval", models.UniqueConstraint(fields=("user", "kind"), name="auto_approval_once")
        ),
        migrations.AddConstraint(
            "autoapproval", models.CheckConstraint(condition=KNOWN, name="auto_approval_kind_known")
        ),
        migrations.AddField("knowledgeentry", "quote", models.TextField(blank=True, default="")),
        migrations.AddField("knowledgeentry", "page", models.PositiveIntegerField(blank=True, null=True)),
    ]
