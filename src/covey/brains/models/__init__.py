"""The brain that is a model, reached through pydantic-ai: what it is told, what it may do, what it may use, and what its errors mean.

Only `brain` is imported by others. It imports pydantic-ai, and what that brings, at the first turn and not before.
"""
