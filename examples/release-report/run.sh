#!/bin/sh
# Three dependent tasks over three agents: history and tests side by side, then the report that needs both.
set -eu
cd "$(dirname "$0")"
covey=${COVEY:-covey}
./make-workspace.sh
$covey up --detach
trap '$covey down' EXIT
stamp=$(date +%s)
$covey task add historian "Tell what changed" --id "history-$stamp" --project release
$covey task add tester "Run the tests" --id "tests-$stamp" --project release
$covey task add editor "Write the release report" --id "report-$stamp" --needs "history-$stamp,tests-$stamp" --project release
$covey why "report-$stamp"
$covey task wait "report-$stamp" --timeout 120
cat workspace/report.md
