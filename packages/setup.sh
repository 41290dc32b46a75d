#!/bin/sh
# Makes a machine ready to grade, once: tools, environment, and a first grading, of the reference. After that no
# network is needed. Needs root where a tool is missing (Debian, Ubuntu).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
. "$here/assignment"

has_python() {
    for python in python3 python3.13 python3.12 python3.11; do
        "$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
    done
    return 1
}

install() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

missing=
command -v bwrap >/dev/null || missing="$missing bubblewrap"
[ "$LANGUAGE" != c ] || command -v gcc >/dev/null || missing="$missing gcc libc6-dev"
has_python || missing="$missing python3 python3-venv"
# shellcheck disable=SC2086
[ -z "$missing" ] || install $missing
has_python || install python3.11 python3.11-venv # Ubuntu 22.04, whose python3 is an older one

# An image that cannot grade is not made.
sh "$here/grade" "$ASSIGNMENT" --reference --quiet "$@"

# Where root grades, what is expected and what is solved are root's alone from now on: no other user can read them,
# whatever the sandbox. (What is built from the reference has been built just now, and is kept.)
[ "$READERS" = all ] || chmod -R go= "$here"/fixtures/*/*/expected "$here/reference"
