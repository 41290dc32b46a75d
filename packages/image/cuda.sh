#!/bin/sh
# CUDA's part of the image: cuda.sh build (PyCUDA into the environment), cuda.sh run (what nvcc needs at a run).
set -eu
export DEBIAN_FRONTEND=noninteractive
. /opt/tensorgrade/packages/image/pip.sh
home=/opt/tensorgrade/.venv

command -v nvcc >/dev/null || {
    echo "the base has no nvcc: --build-arg BASE_IMAGE=nvidia/cuda:VERSION-devel-ubuntu24.04, or the like" >&2
    exit 1
}
apt-get update -qq
if [ "$1" = build ]; then
    apt-get install -y -qq --no-install-recommends g++ >/dev/null
    "$home/bin/python" -c 'import sys, sysconfig, os; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        apt-get install -y -qq --no-install-recommends python3-dev >/dev/null
    "$home/bin/python" -m ensurepip >/dev/null
    "$home/bin/python" -m pip install --quiet -r /opt/tensorgrade/grader/requirements-cuda.txt
    cp /opt/tensorgrade/grader/requirements-cuda.txt "$home/stamp-cuda" # the launcher has nothing to install
    "$home/bin/python" -m pip uninstall --quiet --yes pip setuptools
    sh /opt/tensorgrade/grade sbom --out "$home/sbom.cdx.json"
else
    command -v g++ >/dev/null || apt-get install -y -qq --no-install-recommends g++ >/dev/null
    mv "$home/sbom.cdx.json" /opt/tensorgrade/sbom.cdx.json
fi
rm -rf /var/lib/apt/lists/*
