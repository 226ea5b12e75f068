"""A hub on this machine, for the tests of this room."""

from hub_fixtures import cache, hub, repository

__all__ = ["cache", "hub", "repository"]
