"""Brokers that exchange links: CI, lMST, lMIT and a tree that stays, at the size of the paper."""
