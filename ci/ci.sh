#!/bin/sh
# Installs writ, if it is not on PATH, and runs `writ ci` with the given arguments. Copy it into your repository.
# WRIT_PACKAGE: what npm installs as writ (name, URL or file). WRIT_SIGNING_KEY: private key (PEM) that signs.
# WRIT_LEDGER_KEY: private key (PEM, Ed25519) of the internal ledger. Without it each job begins a log of its own.
set -eu
umask 077
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
if ! command -v writ > /dev/null; then
  : "${WRIT_PACKAGE:?set it to what npm installs as writ}"
  npm install --prefix "$directory" --ignore-scripts --engine-strict --no-audit --no-fund --loglevel=error \
    "$WRIT_PACKAGE" >&2
  PATH=$PATH:$directory/node_modules/.bin
fi
if ! git config user.email > /dev/null; then
  export GIT_AUTHOR_NAME=writ GIT_AUTHOR_EMAIL=writ@localhost GIT_COMMITTER_NAME=writ GIT_COMMITTER_EMAIL=writ@localhost
fi
if [ -n "${WRIT_SIGNING_KEY:-}" ]; then
  export XDG_CONFIG_HOME="$directory/config"
  mkdir -p "$XDG_CONFIG_HOME/writ/keys"
  printf '%s\n' "$WRIT_SIGNING_KEY" > "$XDG_CONFIG_HOME/writ/keys/signing.pem"
  if [ -n "${WRIT_LEDGER_KEY:-}" ]; then
    printf '%s\n' "$WRIT_LEDGER_KEY" > "$XDG_CONFIG_HOME/writ/keys/ledger.pem"
  fi
  unset WRIT_SIGNING_KEY WRIT_LEDGER_KEY
fi
writ ci "$@"
