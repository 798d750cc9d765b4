"""The app of who someone is."""

from django.apps import AppConfig


class PlayersConfig(AppConfig):
    name = "players"

    def ready(self) -> None:
        """Whoever sets up a second step signs the account out everywhere else."""
        from allauth.mfa.signals import authenticator_added

        from players.services import second_step_added

        authenticator_added.connect(second_step_added)
