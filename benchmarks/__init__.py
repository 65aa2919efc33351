"""Speed of cardenvs beside its peers, measured in one run."""
