"""The forms of staff pages, by subject. A form parses and checks its fields, and no more."""
