"""Measures a family of drafts on groups of prompts; layer 4, knows no model."""
