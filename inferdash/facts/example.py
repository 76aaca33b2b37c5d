"""A scenario worth a look, as a link."""

from inferdash.validated import Validated


class Example(Validated):
    """A link of the dashboard and why one would open it."""

    name: str
    why: str
    """In one sentence."""
    link: str
    """The query, with its version."""
    page: str
    """Name of the page that it opens on."""
