"""The papers' book: every numbered table and figure of the five papers, computed again."""
