from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rooms", "0003_fees"),
    ]

    operations = [
        migrations.AddField(
            model_name="room",
            name="unrewarded",
            field=models.CharField(
                blank=True,
                choices=[("auto_play", "auto-play"), ("unconfirmed", "address not confirmed")],
                db_default="",
                default="",
                max_length=12,
            ),
        ),
    ]
