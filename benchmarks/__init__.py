"""What is fast and what it costs, each figure beside a raw limit measured in the same run. `python -m benchmarks` prints the table."""
