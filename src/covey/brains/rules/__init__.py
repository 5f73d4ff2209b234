"""The rules brain: what it recognises, the reports that do the work, the questions it answers. It reads the store and needs no model."""

from covey.brains.rules.brain import RulesBrain
from covey.brains.rules.doable import DOABLE

__all__ = ["DOABLE", "RulesBrain"]
