#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets the machine up, builds everything with sanitizers, runs every test.
#   tools/test.sh [ctest options]        e.g. tools/test.sh -R frontend
set -eu
cd "$(dirname -- "$0")/.."
tools/setup.sh
cmake --preset dev
cmake --build --preset dev
exec ctest --preset dev -j "$(nproc)" "$@"
