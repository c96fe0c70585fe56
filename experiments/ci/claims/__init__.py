"""What the paper claims, and the checks that it is judged by."""
