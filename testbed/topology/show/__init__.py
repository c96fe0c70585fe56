"""A plan for people: in words, in numbers, as a picture, and what it will cost."""
