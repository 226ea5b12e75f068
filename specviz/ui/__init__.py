"""The page: turns races into what a browser draws; imports no model code and loads no torch."""
