"""A fleet's API from another program: `Client`, `AsyncClient`, and the lines that carry their calls."""
