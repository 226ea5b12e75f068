"""Models by name: what is shipped, how a folder or hub id becomes a model, what fits what."""
