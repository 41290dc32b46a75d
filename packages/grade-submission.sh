#!/bin/sh
# Grades a submission: grade-submission.sh FOLDER-OR-FILE OPTION...
# Its exit code is the grader's: 0 and 1 graded, 2 wrong usage, 3 an error that is not the submission's.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
submission=$1
shift
. "$here/assignment" # has its options stand before those that are given here
exec sh "$here/grade" "$ASSIGNMENT" "$submission" --quiet "$@"
