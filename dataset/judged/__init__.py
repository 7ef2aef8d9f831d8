"""What was judged, as tables: of rounds from the database, of a version from its files.

A table of **answers** (``answer_tables``, ``released_tables``) has a row for each answer: ``image`` and ``caption``,
``worker`` (a pseudonym), ``level``, ``control`` (the polarity of a gold control, empty for a candidate), ``counted``
(its answer set was accepted), ``simulated`` (a program answered), ``hit`` (the number of its HIT) and ``answer_set``.
Answers to retired controls are left out, as they say nothing about anybody. The votes are the answers that count; a
method of aggregation takes all of them, those on controls too.

A table of **verdicts** (``released_tables``) has a row for each pair: ``image``, ``caption``, ``level``.

A pair is named by the database ids of its image and caption in tables of rounds, by the collection's own keys in files
and in what is released: ``with_keys`` and ``with_ids`` change one into the other.
"""
