"""Less noise in stored matches: control variates for luck, with a mean of exactly 0."""
