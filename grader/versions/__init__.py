"""Two versions of tolerances, fixtures or assignment over saved submissions: whose score changes, and why."""
