"""The version, kept here alone: packaging, the command line and the doors read it from this line."""

__version__ = "0.6.2"
