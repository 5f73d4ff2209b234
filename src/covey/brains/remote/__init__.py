"""The brain that is an agent of another system, called by A2A. Imported only by an agent whose brain it is, since its package is heavy."""
