"""Figures: drawn once, as SVG, with what they show in words and numbers inside."""
