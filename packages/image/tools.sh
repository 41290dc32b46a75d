#!/bin/sh
# What the image has from Debian or Ubuntu: compilers, the sandbox and, where the base has none, Python.
set -eu
export DEBIAN_FRONTEND=noninteractive

install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

# What nobody looks for in it: texts, gcc's dump of its own intermediate code, clang's interface for editors, and
# what builds for 32 bits.
cat >/etc/dpkg/dpkg.cfg.d/tensorgrade <<'PATHS'
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/bin/*-lto-dump-*
path-exclude=/usr/lib/*/libclang-[0-9]*.so*
path-exclude=/lib32/*
path-exclude=/usr/lib32/*
path-exclude=/usr/lib/llvm-*/lib/clang/*/lib/linux/*-i386*
PATHS

python=
python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    python="python3 python3-venv"
apt-get update -qq
# shellcheck disable=SC2086
install bubblewrap ca-certificates util-linux gcc libc6-dev clang libomp-dev $python
install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" # what the sanitizers are linked with
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /usr/share/man/* /usr/share/locale/*

mkdir -p /scratch
chmod 1777 /scratch
