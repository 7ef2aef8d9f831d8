"""Kills and cuts at random moments of a site under load, and a check of its database after each.

    python -m tests.chaos sqlite --kills 20            one engine; postgresql needs a server and Redis
    make chaos                                         both engines, 200 each, written into docs/reliability.md

``processes`` runs the site, ``cuts`` draws what is killed and when and kills it, ``crowd`` works on the site,
``ground`` makes the rounds and ``invariants`` checks.
"""
