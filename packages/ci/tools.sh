#!/bin/sh
# Installs the sandbox where it is missing and may be installed. Without it grading goes on, and the result says so.
set -u
command -v bwrap >/dev/null || {
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends bubblewrap
} >/dev/null 2>&1
# Ubuntu 24.04 lets no one make a user namespace who has no profile for it; on a machine of ours we may say otherwise.
if [ "${RUNNER_ENVIRONMENT:-}" = github-hosted ]; then
    sudo -n sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0 2>/dev/null
fi
bwrap --ro-bind / / true 2>/dev/null || echo "no sandbox: bubblewrap is not installed here, or does not work" >&2
exit 0
