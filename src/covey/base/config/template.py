"""The covey.toml that `covey init` writes: the default fleet written out, each option explained. Plain text, beside this module."""

from pathlib import Path

TEMPLATE = Path(__file__).with_name("template.toml").read_text(encoding="utf-8")
