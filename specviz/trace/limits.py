"""What a race may be asked for at all, in numbers; a page allows less, never more."""

MAX_LANES = 4
"""Lanes of a race, the baseline among them."""
MAX_NEW_TOKENS = 4096
MAX_GAMMA = 16
MAX_COIN = MAX_NEW_TOKENS * MAX_GAMMA
"""Highest number of a coin that a lane can throw."""
MAX_FLIPPED = 16
"""Coins of one lane that can fall the other way."""
CONFIDENCES, DEFAULT_CONFIDENCE = (0.01, 0.99), 0.4
"""Below which probability of its own token a draft may end; that of transformers, if left out."""
MIN_BRANCHES, DEFAULT_BRANCHES, MAX_BRANCHES = 2, 4, 10
"""Drafts that a tree may try in one place."""
MIN_BUDGET, DEFAULT_BUDGET, MAX_BUDGET = 2, 24, 64
"""Nodes that a tree may have."""
MIN_NGRAM, DEFAULT_NGRAM, MAX_NGRAM = 2, 4, 16
"""Longest matches, in tokens, that prompt lookup may look for."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 5.0
"""Temperatures that sample; 0 is greedy."""
MAX_TOP_K = 1_000_000
MAX_SEED = 2**63 - 1
