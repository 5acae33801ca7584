"""Scripts that make or check files of the repository."""
