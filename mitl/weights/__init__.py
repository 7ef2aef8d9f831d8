"""Published files of weights and vocabularies: read without running what is in them, and checked."""
