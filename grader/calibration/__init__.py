"""The evidence behind ``tolerances.yaml``: how far right code is off, how near wrong code comes, the limit between."""
