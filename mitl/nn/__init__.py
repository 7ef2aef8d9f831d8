"""Networks of the literature as plain torch modules, under the state-dict names of their authors' files."""
