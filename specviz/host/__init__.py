"""What the app wires for its page beside races: pairs of the model hub."""
