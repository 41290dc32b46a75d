#!/bin/sh
# Grades a submission: grade-submission.sh FOLDER-OR-FILE OPTION...
# Its exit code is the grader's: 0 and 1 graded, 2 wrong usage, 3 an error that is not the submission's.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
submission=$1
shift
. "$here/assignment" # has its options stand before those that are given here

# Some sites hand over the files alone, without the folders that they belong in.
is_file() { [ -f "$1" ] && [ ! -L "$1" ]; }
gathered=
for file in $FILES; do
    name=${file##*/}
    if [ "$file" != "$name" ] && [ ! -e "$submission/${file%%/*}" ] && is_file "$submission/$name"; then
        [ -n "$gathered" ] || gathered=$(mktemp -d)
        mkdir -p "$gathered/${file%/*}"
        cp "$submission/$name" "$gathered/$file"
    fi
done
if [ -n "$gathered" ]; then
    trap 'rm -rf "$gathered"' EXIT
    submission=$gathered
fi

code=0
sh "$here/grade" "$ASSIGNMENT" "$submission" --quiet "$@" || code=$?
exit "$code"
