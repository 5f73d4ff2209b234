// One stream of hints, kept open: read by fetch, since EventSource hides why a stream ended. Used by the worker, or by a page without one.

const QUIET_MS = 40_000; // the server says each 15 s that it lives
const SOONEST_MS = 500;
const LATEST_MS = 10_000;

export class Stream {
  // `tell` is called with {kind: "state", state}, {kind: "hello", …} and {kind: "hint", …}
  constructor(tell) {
    this.tell = tell;
    this.last = "";
    this.delay = SOONEST_MS;
    this.state = "connecting";
    this.since = Date.now();
    this.run();
  }

  become(state) {
    if (state !== this.state) {
      this.state = state;
      this.tell({ kind: "state", state });
    }
  }

  async run() {
    for (;;) {
      const answer = await this.read().catch(() => "broken");
      if (answer === "signed-out") {
        this.become("signed-out");
        return;
      }
      if (this.state === "live") this.since = Date.now();
      this.become(Date.now() - this.since > LATEST_MS ? "offline" : "reconnecting");
      await new Promise((after) => {
        this.hurry = after;
        setTimeout(after, this.delay * (0.7 + 0.6 * Math.random()));
      });
      if (this.state === "offline") this.delay = Math.min(this.delay * 2, LATEST_MS);
    }
  }

  async read() {
    const cut = new AbortController();
    let watch = setTimeout(() => cut.abort(), QUIET_MS);
    try {
      const headers = { Accept: "text/event-stream" };
      if (this.last) headers["Last-Event-ID"] = this.last;
      const answer = await fetch("/live", { headers, signal: cut.signal, cache: "no-store" });
      if (answer.status === 401) return "signed-out";
      if (!answer.ok) return "refused";
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return "ended";
        clearTimeout(watch);
        watch = setTimeout(() => cut.abort(), QUIET_MS);
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) if (this.take(part) === "signed-out") return "signed-out";
      }
    } finally {
      clearTimeout(watch);
      cut.abort();
    }
  }

  take(part) {
    const fields = {};
    for (const line of part.split("\n")) {
      const at = line.indexOf(": ");
      if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
    }
    if (fields.event === "signed-out") return "signed-out";
    if (!fields.data) return "";
    if (fields.id) this.last = fields.id;
    this.delay = SOONEST_MS;
    if (fields.event === "hello") {
      this.hello = JSON.parse(fields.data);
      this.become("live");
      this.tell({ kind: "hello", ...this.hello });
    } else {
      this.tell({ kind: "hint", ...JSON.parse(fields.data) });
    }
    return "";
  }
}
