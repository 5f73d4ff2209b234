"""Each place of the code that a page names is there, and docs/seeds.md leaves out no name of the seeds."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text()
PLACES = sorted(
    (page.stem, place, name)
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for place, name in set(re.findall(r"`([a-z_]+/[a-z_/]+\.(?:py|toml))(?::(\w+))?[.\w]*`", page.read_text()))
)
NAMES = re.findall(
    r"\S+",
    """
AgentProtocolController agents buddy_pairs run_protocol_cycle check_all_agents_health handle_unhealthy_agent handle_unresponsive_agent
run_buddy_checks execute_buddy_check detect_and_heal_stalls generate_tasks_for_idle_agents manage_context_overflow BaseAgent agent_id port app
state state_lock setup_routes load_state handle_message handle_new_task handle_buddy_check run heartbeat_loop task_processor ContextManager
max_size warning_threshold check_context_size compress_context emergency_context_cleanup agents/chief.py system-controller.py agent-base.py
docker-compose.yml buddy_check get_buddy_id trigger_buddy_intervention generate_contextual_tasks trigger_context_cleanup detect_stall
auto_recover break_down_task reassign_task generate_role_appropriate_tasks restart_agent redistribute_tasks is_task_relevant
create_task_from_template generate_cross_functional_tasks prioritize_tasks add_tasks_to_queue load_agent_state agentId status lastHeartbeat
currentTask taskQueue buddyId lastBuddyCheck activeProjects recentDecisions contextSize maxContextSize tasksCompleted averageTaskTime
lastActiveTime stallCount taskId description startTime estimatedCompletion priority assignedBy dependencies createdBy createdAt messageId from to
type timestamp content subject body data requiresResponse deadline threadId projectId relatedTasks /message /status /task /health /buddy-check
/context-sync /metrics /emergency-stop global-queue.json urgent-queue.json messages.json notifications.json heartbeats.json protocol-state.json
buddy-assignments.json health-metrics.json protocol-controller.log health-checks.log messages.log buddy-checks.log task-metrics.log
context-metrics.log AgentPeerLink AgentCommPeerState messages_per_window window_hours credits_remaining window_reset_at last_message_at
send_agent_message process_agent_events_task peer_agent_id is_peer_dm PersistentAgentConversation PersistentAgentMessage MessageType AgentMessage
AgentCommunication SupervisorAgent HandoffProtocol ConsensusManager AgentFailureHandler sender receiver message_type message_id
requires_response inbox outbox message_history send receive broadcast workers task_queue completed_tasks current_state register_worker
decompose_task assign_task select_worker aggregate_results run_workflow _simulate_worker_response create_handoff accept_handoff
transfer_with_state votes debates initiate_vote submit_vote calculate_weighted_consensus max_retries failure_counts circuit_breakers
handle_failure _activate_circuit_breaker _find_alternative_agent is_available record_success
""",
)


@cache
def defined(path: Path) -> set[str]:
    """The names that a module has at its top."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


@pytest.mark.parametrize(("page", "place", "name"), PLACES)
def test_each_place_that_a_page_names_is_there(page: str, place: str, name: str) -> None:
    paths = [path for path in (ROOT / place, ROOT / "src" / "covey" / place, ROOT / "src" / "covey" / page / place) if path.is_file()]
    assert paths or place == "agents/chief.py", "the seed's own file is not ours"
    if name:
        assert name in defined(paths[0])


def test_no_name_of_the_seeds_is_left_out() -> None:
    missing = [name for name in NAMES if not re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z])", PAGE)]
    assert missing == []
