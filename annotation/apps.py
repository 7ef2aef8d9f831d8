from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    event_sentences = {
        "appeal turned down": "{who} turned down an appeal about {what}",
        "appeal upheld": "{who} upheld an appeal about {what}",
        "appealed": "{who} appealed about {what}",
        "arrived": "{who} came from {channel}",
        "cleared": "{who} cleared {what} of suspicion",
        "consented": "{who} agreed to take part",
        "wrote consent": "{who} wrote what workers of {what} agree to",
        "decided": "{who} decided on {what}",
        "ended idle leases": "{who} ended {leases:idle lease} in {what}",
        "explained": "{who} said which levels fit best in {what}",
        "excluded from further work": "{who} excluded {what} from further work",
        "expired": "{what} ran out of time",
        "shortened": "{who} shortened {what}, which a wrong clock had made too long",
        "flagged": "{who} flagged {what} for a review",
        "forgotten": "{who} erased who {what} is",
        "given a new link": "{who} gave {what} a new link",
        "leased": "{who} took {what}",
        "lost in an outage": "{who} noted that {what} was lost in an outage",
        "made invitations": "{who} made {count:invitation} to {what}",
        "not paid after all": "{who} noted that {what} was not paid after all",
        "opened": "{who} started {what}",
        "owed": "{who} noted as owed: {what}",
        "paid though late": "{who} paid {what} although it was late",
        "paused in a round": "{who} paused {what} in {round}",
        "rejection dropped": "{who} dropped the rejection of {what}",
        "rejection proposed": "{who} proposed to reject {what}",
        "rejection reversed": "{who} reversed the rejection of {what}",
        "rejection seconded": "{who} agreed to reject {what}",
        "reopened": "{who} opened {what} again",
        "resumed in a round": "{who} resumed {what} in {round}",
        "revoked invitations": "{who} revoked invitations to {what}",
        "saved": "{who} submitted {what} late",
        "set ceiling": "{who} set the ceiling of {what} to ${ceiling}",
        "suspected": "{who} put {what} under suspicion",
        "tested": "{who} took {what}",
        "withdrawn": "{who} withdrew {what}",
    }
