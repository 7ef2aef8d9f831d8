"""The worker's pages: join a round, take a HIT, judge its pairs, submit, see what came of it. No cookie is needed."""
