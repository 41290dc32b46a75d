#!/bin/sh
# PrairieLearn runs this for each submission, and reads results/results.json afterwards.
set -u
root=${GRADE:-/grade}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
results=$root/results/results.json
mkdir -p "$root/results"
sh "$here/grade-submission.sh" "$root/student" --report "prairielearn=$results"
code=$?
[ "$code" -gt 1 ] || exit 0
rm -f "$results" # nothing was graded: PrairieLearn says so, and gives no score
exit "$code"
