#!/bin/sh
# A command brain in shell: runs the tests of the workspace, writes tests.md; what it prints is the summary.
# Its exit code tells the fleet: 0 done, else failed, and tried again.
cat > /dev/null  # the turn, which this brain does not need
cd "$WORKSPACE" || exit 78
echo "running the tests" >&2
if python3 -m unittest discover -q tests > tests.log 2>&1; then verdict="all tests pass"; else verdict="tests FAIL"; fi
ran=$(sed -n 's/^Ran \([0-9]*\) test.*/\1/p' tests.log)
printf '## Tests\n\n%s (%s ran)\n' "$verdict" "${ran:-0}" > tests.md
echo "$verdict (${ran:-0} ran)"
