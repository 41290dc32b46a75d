# Read by what installs Python packages: pip as the builder of the image has set it up, by secrets of the build.
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
[ ! -e /run/secrets/pip ] || export PIP_CONFIG_FILE=/run/secrets/pip
[ ! -e /run/secrets/ca ] || export PIP_CERT=/run/secrets/ca
