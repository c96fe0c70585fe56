"""What runs inside the guest as its first process. Standard library only, and no shell."""
