"""The worker's pages: join a round, take a HIT, judge its pairs, submit, see the result. No cookie is needed."""
