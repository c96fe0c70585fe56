"""The topology file: its text, its schema, and what can be wrong with both."""
