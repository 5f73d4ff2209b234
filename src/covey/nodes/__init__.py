"""A machine's processes: started, watched, restarted. The fleet's records are the features' own; here nothing decides about tasks."""
