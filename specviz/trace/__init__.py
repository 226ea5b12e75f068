"""What happened in a race: its values, files, metrics and theory; standard library only."""
