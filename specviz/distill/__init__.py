"""Fits a draft to any target, on what that target writes."""
