// One stream for all tabs of this browser: with one a tab, the seventh would find no connection left.

import { Stream } from "./stream.js";

const ports = new Set();
let stream = null;

function tellAll(message) {
  for (const port of ports) port.postMessage(message);
}

self.onconnect = (event) => {
  const port = event.ports[0];
  ports.add(port);
  port.onmessage = ({ data }) => {
    if (data === "bye") ports.delete(port);
    if (data === "again") {
      ports.add(port);
      if (!stream || stream.state === "signed-out") stream = new Stream(tellAll);
      stream.hurry?.();
    }
  };
  if (!stream || stream.state === "signed-out") stream = new Stream(tellAll);
  port.postMessage({ kind: "state", state: stream.state });
  if (stream.state === "live") port.postMessage({ kind: "hello", ...stream.hello, resync: false });
};
