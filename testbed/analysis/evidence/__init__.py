"""What a run folder proves: journeys of publications, interests, times that count, checks."""
