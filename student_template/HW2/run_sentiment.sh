#!/usr/bin/env bash
# Train the sentiment classifier; run it from anywhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/project"
exec python run_sentiment.py "$@"
