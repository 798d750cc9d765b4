from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0009_former_names"),
    ]

    operations = [
        migrations.AlterField(
            model_name="staffact",
            name="act",
            field=models.CharField(
                choices=[
                    ("search", "saw a list of players"),
                    ("look", "saw a player"),
                    ("list", "saw a list"),
                    ("ledger", "searched the ledger"),
                    ("export", "exported the ledger"),
                    ("money", "saw the gold of a room"),
                    ("match", "saw a match"),
                    ("verify", "verified a match"),
                    ("flags", "saw the flags"),
                    ("corrections", "saw the corrections"),
                    ("log", "saw this log"),
                    ("ban", "banned"),
                    ("unban", "lifted a ban"),
                    ("note", "noted"),
                    ("sessions", "ended sessions"),
                    ("ask", "asked for a correction"),
                    ("approve", "approved a correction"),
                    ("decline", "declined a correction"),
                    ("appoint", "gave or took a role"),
                    ("refused", "was refused"),
                ],
                max_length=12,
                verbose_name="what",
            ),
        ),
    ]
