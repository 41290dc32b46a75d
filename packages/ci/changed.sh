#!/bin/sh
# Says whether a folder has changed: changed.sh FOLDER COMMIT. `true` too where that commit is not known, as after a
# forced push or on a new branch: then everything is graded.
set -eu
git cat-file -e "${2:-unknown}^{commit}" 2>/dev/null || { echo true; exit; }
if git diff --quiet "$2" HEAD -- "$1"; then echo false; else echo true; fi
