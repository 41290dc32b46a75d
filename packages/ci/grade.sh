#!/bin/sh
# Grades a folder in a CI job: grade.sh ASSIGNMENT FOLDER REPORTS [OPTION...]
# The reports are put into the folder REPORTS. The exit code is the grader's: 1 is below --min-score.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
assignment=$1 folder=$2 reports=$3
shift 3
mkdir -p "$reports"
[ -z "${GITHUB_ACTIONS:-}" ] || set -- --report github=- "$@"
exec sh "$here/../../grade" "$assignment" "$folder" --quiet \
    --report "html=$reports/report.html" --report "json=$reports/result.json" \
    --report "junit=$reports/junit.xml" --report "badge=$reports/badge.svg" "$@"
