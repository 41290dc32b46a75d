#!/bin/sh
# Gradescope runs this once, when it makes the autograder's image.
exec sh "${AUTOGRADER:-/autograder}/source/tensorgrade/setup.sh"
