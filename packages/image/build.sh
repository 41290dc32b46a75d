#!/bin/sh
# Makes the grader in the image ready: nothing is downloaded, built or compiled at a run that can be beforehand.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
home=$here/.venv
. "$here/packages/image/pip.sh"

# The packages for grading and for a class, without their tests and what only a debugger reads.
sh "$here/grade" similarity --help >/dev/null
find "$home/lib" -type d -name tests -prune -exec rm -rf {} +
for package in zstandard kiwisolver fontTools; do
    find "$home"/lib/python3*/site-packages/$package -name '*.so' -exec strip --strip-debug {} +
done

# An image that cannot grade is not made; what is built from the references is kept beside the packages.
sh "$here/grade" A2 --reference --quiet --min-score 100
sh "$here/grade" HW2 --reference --quiet --no-training

"$home/bin/python" -m compileall -q "$here/grader" "$here/assignments" "$here/reference"
"$home/bin/python" -m pip uninstall --quiet --yes pip setuptools
sh "$here/grade" sbom --out "$here/sbom.cdx.json"
# whoever runs it reads it, whatever the umask of the clone that it was built from
chmod -R a+rX,go-w "$here"
