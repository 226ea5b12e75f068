"""Whether what a lane writes follows the target's law: draws, statistics and a verdict."""
