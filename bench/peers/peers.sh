# SPDX-License-Identifier: Apache-2.0
# Starting DynamoDB Local, dynalite and Dynoxide; sourced. Expects $peers, a directory that they are
# installed below (Java and Maven, npm, or Rust 1.88 must be there). Makes $scratch, gone at the end with what was started.
scratch=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" || true; done
  rm -rf "$scratch"
}
trap finish EXIT

need_local() {
  [ -d "$peers/java" ] || mvn -q -f "$(dirname "${BASH_SOURCE[0]}")/pom.xml" \
    dependency:copy-dependencies -DoutputDirectory="$(realpath -m "$peers")/java"
  peers=$(realpath "$peers")
  local_command=(java "-Djava.library.path=$peers/java" -cp "$peers/java/*"
    software.amazon.dynamodb.services.local.main.ServerRunner -sharedDb -port PORT)
}
need_dynalite() {
  [ -d "$peers/node_modules/dynalite" ] || npm install --silent --prefix "$peers" dynalite@3
  peers=$(realpath "$peers")
  dynalite_command=("$peers/node_modules/.bin/dynalite" --port PORT --createTableMs 0
    --deleteTableMs 0 --updateTableMs 0)
}

need_dynoxide() {
  [ -x "$peers/bin/dynoxide" ] || cargo install --quiet --locked --root "$peers" \
    --no-default-features --features native-sqlite,http-server,cli dynoxide-rs@3.2.0
  peers=$(realpath "$peers")
  dynoxide_command=("$peers/bin/dynoxide" --port PORT)
}

# start COMMAND… : PORT in it becomes a free port. Waits until it answers, and sets $url.
start() {
  local port
  port=$(python3 -c \
    'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  (cd "$scratch" && exec "${@//PORT/$port}") >"$scratch/$port.log" 2>&1 &
  pids+=($!)
  url=http://127.0.0.1:$port
  for _ in $(seq 100); do
    curl -s -o /dev/null "$url/" && return
    sleep 0.2
  done
  echo "$1 does not answer:" >&2
  cat "$scratch/$port.log" >&2
  exit 1
}
