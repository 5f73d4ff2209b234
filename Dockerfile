# One image for every part of a fleet: an agent, the controller, the API, the gateway. What it runs is the command.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir --prefix=/opt/covey ".[postgres,fast,mcp]"

FROM python:3.12-slim
COPY --from=build /opt/covey /usr/local
RUN useradd --create-home --uid 10001 covey && install -d -o covey -g covey /data /shared /logs
USER covey
WORKDIR /data
ENV COVEY_DATA_DIR=/data COVEY_SHARED_DIR=/shared COVEY_LOGS_DIR=/logs PYTHONUNBUFFERED=1
VOLUME ["/data", "/shared", "/logs"]
# `covey agent` without a name is the agent that AGENT_ID names, on PORT
CMD ["covey", "agent"]
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", \"8000\")}/health', timeout=4)"]
