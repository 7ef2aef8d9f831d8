"""The URLs of the pages of rounds."""

from django.urls import path

from console.rounds import (
    consent_page,
    overview,
    pairs_page,
    people_page,
    planning,
    publishing,
    rehearsal,
    top_up_acts,  # noqa: F401  acts have their addresses from console.urls
)

urlpatterns = [
    path("pools/<slug:name>/pack/", planning.pool_pack, name="pool_pack"),
    path("plan/", planning.round_plan, name="round_plan"),
    path("plan/preview/<slug:name>/<slug:task>/<slug:design>/", rehearsal.hit_preview, name="hit_preview"),
    path(
        "plan/preview/<slug:name>/<slug:task>/<slug:design>/pictures/<int:place>/",
        rehearsal.preview_picture,
        name="preview_picture",
    ),
    path("rounds/", overview.rounds, name="rounds"),
    path("rounds/<slug:name>/", overview.round, name="round"),
    path("rounds/<slug:name>/live/", overview.round_live, name="round_live"),
    path("rounds/<slug:name>/publish/", publishing.round_publish, name="round_publish"),
    path("rounds/<slug:name>/consent/", consent_page.round_consent, name="round_consent"),
    path("rounds/<slug:name>/rehearse/", rehearsal.round_rehearse, name="round_rehearse"),
    path("rounds/<slug:name>/rehearse/pictures/<int:place>/", rehearsal.rehearsal_picture, name="rehearsal_picture"),
    path("rounds/<slug:name>/hits/", pairs_page.round_pairs, name="round_pairs"),
    path("rounds/<slug:name>/hits/<int:number>/", pairs_page.hit, name="hit"),
    path("rounds/<slug:name>/controls/<int:control_id>/", pairs_page.control, name="control"),
    path("rounds/<slug:name>/controls/<int:control_id>/rule/", pairs_page.control_rule, name="control_rule"),
    path("rounds/<slug:name>/judgments/", pairs_page.round_judgments, name="round_judgments"),
    path("rounds/<slug:name>/captions/", pairs_page.round_captions, name="round_captions"),
    path("rounds/<slug:name>/people/", people_page.round_people, name="round_people"),
    path("rounds/<slug:name>/invitations.csv", people_page.invitations_csv, name="invitations_csv"),
    path(
        "rounds/<slug:name>/invitations/<int:invitation_id>/revoke/",
        people_page.invitation_revoke,
        name="invitation_revoke",
    ),
]
