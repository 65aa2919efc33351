"""Tools for Texas hold'em: matches with all their records, timelines, hands as PHH."""
