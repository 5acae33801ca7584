"""The documentation as a site: what MkDocs needs beyond its configuration, `mkdocs.yml`."""
