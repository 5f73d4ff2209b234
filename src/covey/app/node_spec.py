"""How the node's own process is started, by `covey up --detach` and by who finds it dead."""

from __future__ import annotations

import os
from pathlib import Path

from covey.app import snapshot
from covey.base.settings import Settings
from covey.nodes.forkserver import Spec

NODE = "node"
"""The name whose lock it holds."""


def node_spec(settings: Settings) -> Spec:
    """A node with the settings of the fleet's snapshot."""
    return Spec(
        name=NODE,
        entry="covey.app.noding:main",
        args=(str(snapshot.path_of(settings)),),
        env=dict(os.environ),
        cwd=settings.root or str(Path.cwd()),
        log=str(Path(settings.logs_dir) / "system" / "node.out"),
        title="covey node",
    )
