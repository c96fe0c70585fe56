"""What the report claims, and the checks that it is judged by."""
