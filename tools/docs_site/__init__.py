"""The documentation as a site: extensions of MkDocs for `mkdocs.yml`."""
