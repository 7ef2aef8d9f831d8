from django.apps import AppConfig


class CrowdConfig(AppConfig):
    name = "crowd"

    def ready(self) -> None:
        from annotation import platforms
        from crowd.channels import CHANNELS
        from crowd.seats import PlatformPostings
        from hits.prices import SCHEDULES

        SCHEDULES.update({name: channel.fees(top_workers=False) for name, channel in CHANNELS.items()})
        platforms.postings = PlatformPostings()
