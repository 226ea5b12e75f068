"""specviz: real speculative decoding beside a measured baseline, every token with its fate."""

__version__ = "0.1.0"
