"""Two results side by side: which tables differ, and by how much."""
