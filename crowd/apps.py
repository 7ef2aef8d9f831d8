from django.apps import AppConfig


class CrowdConfig(AppConfig):
    name = "crowd"

    def ready(self) -> None:
        from annotation import platforms
        from crowd.channels import CHANNELS
        from crowd.offers import Offer
        from crowd.seats import PlatformPostings
        from hits.prices import SCHEDULES

        SCHEDULES.update({name: channel.fees(Offer()) for name, channel in CHANNELS.items()})
        platforms.postings = PlatformPostings()
