#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes a site of the documents: build/site/html/index.html, which needs no server and no network.
# Broken links and pages that mkdocs.yml does not list are errors.
#   tools/site.sh
# MkDocs comes from PyPI into build/site/venv; $MKDOCS names another one, of version 1.6 or later.
set -eu
cd "$(dirname -- "$0")/.."
site=build/site
version=1.6.1

if [ -z "${MKDOCS:-}" ]; then
	MKDOCS=$site/venv/bin/mkdocs
	[ -x "$MKDOCS" ] || {
		python3 -m venv "$site/venv"
		"$site/venv/bin/pip" install -q --disable-pip-version-check "mkdocs==$version"
	}
fi

# The pages, in folders as they are here, so that links between them hold as they are written.
rm -rf "$site/source" "$site/html"
mkdir -p "$site/source"
cp -r README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE docs examples "$site/source"

# A picture is an object, not an image: its parts say more when pointed at.
find "$site/source" -name '*.md' -exec sed -i -E \
	's,^!\[(.*)\]\((.*\.svg)\)$,<object type="image/svg+xml" data="\2">\1</object>,' {} +
"$MKDOCS" build --quiet --strict
echo "$site/html/index.html"
