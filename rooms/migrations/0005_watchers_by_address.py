from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rooms", "0004_unrewarded"),
    ]

    operations = [
        migrations.AddField(
            model_name="watcher",
            name="address",
            field=models.CharField(db_default="unknown", default="unknown", max_length=50),
        ),
    ]
