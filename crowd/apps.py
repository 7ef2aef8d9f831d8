from django.apps import AppConfig


class CrowdConfig(AppConfig):
    name = "crowd"

    event_sentences = {
        "account held": "{who} found ${amount} in the account that pays {what}",
        "approved on the platform": "The platform approved {what}",
        "asked to return": "{who} asked the worker to return {what}",
        "audited": "{who} compared {what} with its platform: {differences:difference}",
        "claimed by two workers": "Two workers came with the session of {what}",
        "deleted as never confirmed": "{who} deleted {what}, which the platform never confirmed",
        "deleted as nobody came": "{who} deleted {what}, because its worker never came",
        "disposed": "{who} removed {what} from the platform",
        "expired on the platform": "The time for {what} ran out on the platform",
        "halted": "{who} found {what} {there} by {by}",
        "live": "{who} posted {what}",
        "opened, not confirmed": "{who} started {what}, which the platform could not confirm then",
        "over": "{who} found that {what} has ended",
        "published": "{who} published {what} on {channel}",
        "rejected on the platform": "The platform rejected {what}",
        "repaired": "{who} repaired a difference of {what}",
        "resumed": "{who} let visitors come to {what} again",
        "returned on the platform": "The worker returned {what} on the platform",
        "sent again": "{who} sent {what} again",
        "settled on the platform": "The platform screened out {what}, or paid a part of it",
        "submitted on the platform": "The platform got {what}",
        "synced": "{who} read {what} from its platform",
        "written to": "{who} wrote to {what}",
    }

    def ready(self) -> None:
        from annotation import platforms
        from crowd.channels import CHANNELS
        from crowd.posting.platform_postings import PlatformPostings
        from hits.prices import SCHEDULES

        SCHEDULES.update({name: channel.fees(top_workers=False) for name, channel in CHANNELS.items()})
        platforms.postings = PlatformPostings()
