"""Pictures of a collection: stored whole, shown as browsers show them, compared, and copied smaller."""
