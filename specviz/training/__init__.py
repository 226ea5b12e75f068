"""How the shipped model family is made from plain text: tokenizer, target, draft, model card."""
