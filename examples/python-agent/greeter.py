"""An agent that greets whoever is named to it, and does tasks by saying so."""

import covey


class Greeter(covey.Agent):
    """Its methods are its brain; what they return is the reply, or the result of the task."""

    async def on_message(self, message: covey.Message, turn: covey.Turn) -> str:
        """Reply to a message."""
        self.remember(f"greeted {message.body}")
        times = sum(entry["text"].startswith("greeted") for entry in turn.context) + 1
        return f"Hello {message.body}! You are number {times}."

    async def on_task(self, task: covey.Task, turn: covey.Turn) -> str:
        """Do a task."""
        self.send("operator", f"{turn.agent} is at it: {task.description}")
        return f"done: {task.description}"
