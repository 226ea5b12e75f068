"""How the shipped model family is made from plain text, and how a draft is fitted to any target."""
