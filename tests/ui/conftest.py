"""Keeps Gradio from calling home; must be said before it is imported."""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
