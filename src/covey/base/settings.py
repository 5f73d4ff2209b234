"""What a fleet is configured to be: plain data with the defaults, no reading of files (that is `base.config`)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

BrainKind = Literal["rules", "python", "command", "model", "a2a", "external"]
Preset = Literal["claude", "codex", "gemini"]
PAID_KINDS: frozenset[str] = frozenset({"command", "model", "external", "a2a"})
"""Brains that cost money or act outside: nothing is generated for them unless `plan = true` (P3)."""

BASE_PORT = 8000
"""The console's; agents count from the next one, the gateway is 900 above."""
CONSOLE_PORT = BASE_PORT
FIRST_PORT = BASE_PORT + 1
GATEWAY_OFFSET = 900
GATEWAY_PORT = BASE_PORT + GATEWAY_OFFSET


class BrainSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What does an agent's thinking (DESIGN, Brains)."""

    kind: BrainKind = "rules"
    target: str = ""
    """`module:function` or `module:Class` of a python brain; a remote card's URL of an a2a brain; a model's name."""
    command: tuple[str, ...] = ()
    """Program and arguments of a command brain, or one string that a shell runs as `("sh", "-c", text)`."""
    preset: Literal[Preset, ""] = ""
    """A coding assistant whose command line, sessions and costs a command brain knows; in place of `command`."""
    process: bool = False
    """Whether a python brain runs in a process of its own."""
    timeout_s: float | None = None
    """A bound on one turn, below the task's own run timeout."""
    promises_progress: bool = False
    """Whether the idle timeout counts for it (K4a)."""
    options: dict[str, Any] = {}


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent of the fleet (A2)."""

    id: str
    role: str = ""
    port: int
    buddy: str = ""
    capabilities: tuple[str, ...] = ("general",)
    owner: str = ""
    organisation: str = ""
    brain: BrainSettings = BrainSettings()
    cwd: str = ""
    """Where its brain runs; once read never empty: `Settings.root` unless written (A1b)."""
    env: dict[str, str] = {}
    message_lanes: int = 1
    task_lanes: int = 1
    cadence_s: float = 3600.0
    """An external agent not seen for so long is away (A5b)."""
    plan: bool | None = None
    """Whether idle time is planned; None: as the kind of brain says (P3)."""
    max_context: int = 8192
    summaries: Literal["extract", "brain"] = "extract"
    """Who makes the summaries of its context before it is full: extraction, or its own brain, which costs turns (C4)."""
    user: str = ""
    mcp_profile: Literal["auto", "reader", "worker", "lead"] = "auto"
    """Which tools an MCP client that connects as this agent is shown; auto: lead for the fleet's lead, worker for others."""


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A project and who works on it (A1b)."""

    name: str
    path: str = ""
    agents: tuple[str, ...] = ()


class ScheduleSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task made at each slot (K6a): `every_s`, or `cron` with a time zone."""

    name: str
    text: str
    agent: str = ""
    capability: str = ""
    every_s: float | None = None
    cron: str = ""
    time_zone: str = "UTC"
    priority: str = "medium"
    project: str = ""


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program elsewhere that is told of events, by signed requests."""

    name: str
    url: str
    kinds: tuple[str, ...]
    """Kinds of events, as `task.done`, or `task.` for all that begin so."""
    secret: str
    """What the requests are signed with; `env:NAME` is taken from the environment."""
    allow_private: tuple[str, ...] = ()
    """Names, addresses and networks that may be called though they are not of the open internet."""


class PlanningSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What idle agents are given to do, and how much of it a day (P1, P3, P4)."""

    templates: str = ""
    """A file of templates beside the package's own; absolute once read. Empty: none."""
    mode: Literal["add", "replace"] = "add"
    """Whether that file adds to the package's own templates (an id that is there already is replaced), or stands for all."""
    faults: Literal["refuse", "skip"] = "refuse"
    """What becomes of a file with faults: nothing of it is used, or the templates without a fault are."""
    planner: str = ""
    """The agent whose brain proposes tasks (P4); empty: nobody."""
    planner_every_s: float = 21_600.0
    """How often it is asked at most."""
    tasks: int = 24
    """So many generated tasks an agent, in 24 hours."""
    turns: int = 200
    """So many turns of brains that cost money, in the whole fleet, in 24 hours."""
    usd: float = 5.0
    """So much that brains may cost, in the whole fleet, in 24 hours."""


class A2aSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the fleet offers to agents of other systems, and whom it calls (A2A)."""

    streaming: bool = True
    push: bool = True
    """Whether news of a task is pushed to where its giver wants it."""
    extended_card: bool = True
    """Whether those with a token may ask for a fuller card."""
    required_extensions: tuple[str, ...] = ()
    """URIs of extensions that a caller must declare."""
    allow_private: tuple[str, ...] = ()
    """Names, addresses and networks that are pushed to, and whose agents are called, though they are not of the open internet."""


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where traces are sent, if anywhere. Secrets are not here: OTEL_EXPORTER_OTLP_HEADERS in the environment has them."""

    traces: str = ""
    """The address of an OpenTelemetry collector's OTLP/HTTP port; empty: no traces are recorded."""
    sample: float = 1.0
    """The share of traces that is recorded."""


class Retention(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long what grows is kept (DESIGN, Store)."""

    events_days: float = 30.0
    events_bytes: int = 1_000_000_000
    closed_days: float = 90.0


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole fleet. Paths are absolute once read."""

    root: str = ""
    """The folder of covey.toml: relative paths in it start here, and python brains are imported from here."""
    agents: tuple[AgentSettings, ...]
    projects: tuple[ProjectSettings, ...] = ()
    schedules: tuple[ScheduleSettings, ...] = ()
    webhooks: tuple[WebhookSettings, ...] = ()
    lead: str = ""
    deputy: str = ""
    """Who plays chief and ops (A2a); empty: the operator."""
    data_dir: str = ".covey"
    shared_dir: str = "shared"
    logs_dir: str = "logs"
    store: str = ""
    """Empty: the embedded file `store.db` in the data directory; else `postgresql://…`."""
    durability: Literal["full", "normal"] = "full"
    pooler: bool = False
    tokens: Literal["estimate", "exact"] = "estimate"
    """How the tokens of contexts are counted; exactly needs the extra `tokens` and its vocabulary on disk (C1)."""
    host: str = "127.0.0.1"
    base_port: int = BASE_PORT
    """The console's port; agents' ports that are not written are counted from the next one (A2a)."""
    console_port: int = CONSOLE_PORT
    gateway_port: int = GATEWAY_PORT
    gateway: Literal["auto", "off"] = "auto"
    """Whether the gateway runs: where an extra that it serves (mcp, a2a) is installed, or never."""
    allowed_hosts: tuple[str, ...] = ()
    """Names beyond the bound address and localhost that Host and Origin may carry."""
    open_metrics: bool = False
    open_status: bool = False
    processes: int = 0
    """How many processes hold the agents; 0: one each up to 64 agents, then one for each 64."""
    heartbeat_s: float = 15.0
    stale_s: float = 60.0
    lease_s: float = 60.0
    digest_s: float = 900.0
    wake_debounce_s: float = 0.5
    wait_s: float = 3600.0
    """The deadline of a wait that names none (M7)."""
    grace_s: float = 5.0
    start_s: float = 30.0
    estimate_s: float = 1800.0
    idle_timeout_s: float = 600.0
    hard_cap_s: float = 86400.0
    cycle_s: float = 300.0
    buddy_check_s: float = 3600.0
    """How often an agent checks its buddy (B2)."""
    notify: tuple[str, ...] = ()
    """Where the operator is told of alerts besides its own inbox: URLs of Apprise, which hold secrets."""
    stall_s: float = 1800.0
    """Silent or idle for longer is a stall (H1)."""
    back_s: float = 60.0
    """An agent that is down for longer has its open tasks given to others until it is back (H4)."""
    watchdog_s: float = 30.0
    links: Literal["mesh", "none"] = "mesh"
    limits: Literal["on", "off"] = "on"
    retention: Retention = Retention()
    planning: PlanningSettings = PlanningSettings()
    a2a: A2aSettings = A2aSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    features: dict[str, dict[str, bool]] = {}
    """Organisation (or owner) → feature flag → on or off (L14)."""

    only: tuple[str, ...] = ()
    """The agents that this node runs, out of those above; empty: all. Never in covey.toml."""

    def agent(self, name: str) -> AgentSettings | None:
        """The settings of one agent."""
        return next((agent for agent in self.agents if agent.id == name), None)
