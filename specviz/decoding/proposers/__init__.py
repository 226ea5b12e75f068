"""What makes drafts: one file a method."""
