"""Seeded publishers and subscribers. Everything but `driver` is pure: seeds in, values out."""
