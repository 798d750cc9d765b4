from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rooms", "0006_follows"),
    ]

    operations = [
        migrations.AlterField(
            model_name="room",
            name="status",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting"),
                    ("starting", "starting"),
                    ("playing", "playing"),
                    ("finished", "finished"),
                    ("destroyed", "closed"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
    ]
