"""What the paper says, and how it is judged."""
