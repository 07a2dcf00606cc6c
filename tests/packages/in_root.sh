# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Bare roots, and servers in them. Sourced by bash.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../support/dynamodb.sh"
root=$(mktemp -d /var/tmp/stator-packages.XXXXXX)
chmod 755 "$root"
clear_root() {
  ! mountpoint -q "$root/proc" || umount "$root/proc"
  rm -rf --one-file-system "$root"
}
trap clear_root EXIT

fail() {
  echo "$0: $*" >&2
  exit 1
}

# debian RELEASE: its smallest system.
debian() {
  debootstrap --variant=minbase "$1" "$root" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
  rm -f "$root.log"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  mount -t proc proc "$root/proc"
}

in_root() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# serve_in_root COMMAND…: waits until the server listens, and sets $port and $server.
serve_in_root() {
  local line url=
  coproc { exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$@" 2>&1; }
  server=$COPROC_PID
  exec 4<&"${COPROC[0]}"  # bash closes its own when the server ends
  while read -r line <&4; do
    echo "$line"
    if [[ $line == "listening on http://"* ]]; then
      url=${line##* }
      break
    fi
  done
  [ -n "$url" ] || fail "the server did not start"
  port=${url##*:}
}

# Sets $output to what the server has printed since then.
stop_server() {
  kill -TERM "$server"
  output=$(cat <&4)
  wait "$server" || fail "the server ended with status $?"
}
