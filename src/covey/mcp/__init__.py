"""The door for clients of the Model Context Protocol: a table of tools, each one verb; resources, prompts, news. Extra `covey[mcp]`.

Nothing outside of this package imports the official package, and this one is imported by the gateway's process and `covey mcp` alone.
"""
