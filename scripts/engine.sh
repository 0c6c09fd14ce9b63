#!/usr/bin/env bash
# Installs and runs a container engine for the image tests, on a Debian machine that has none. It
# downloads packages from Debian and npm, but needs no image registry, because it assembles the base
# image from packages.
#
#     scripts/engine.sh check <folder>           exit 75 with the reason if it can't be installed
#     scripts/engine.sh start <folder>           install it into the folder if missing, and start it
#     scripts/engine.sh run <folder> <command>   run a command inside it, such as `docker ps`
#     scripts/engine.sh net <folder> <command>   run a command of this machine in its network
#     scripts/engine.sh stop <folder>            stop it, but keep the installation
#
# Commands inside the engine find this checkout at /checkout. The engine runs in its own namespaces
# and doesn't touch this machine's files, network or processes. Each folder has one engine, so
# `start` ends the previous one.
set -euo pipefail

action=$1
folder=$2
checkout=$(cd "$(dirname "$0")/.." && pwd)
root=$folder/root
base=$folder/base

unavailable() {
  echo "no container engine: $1"
  exit 75
}

check() {
  [ "$(id -u)" = 0 ] || unavailable 'only root can install one'
  command -v apt-get > /dev/null || unavailable 'there is no apt-get to install one with'
  unshare --mount --net --pid --uts --ipc --fork true 2> /dev/null ||
    unavailable 'this machine allows no namespaces'
}

install_tools() {
  if ! command -v mmdebstrap > /dev/null || ! command -v slirp4netns > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    timeout 120 apt-get update -qq
    timeout 120 apt-get install -y -qq --no-install-recommends mmdebstrap slirp4netns > /dev/null
  fi
}

# Installs into a folder named .part, and renames it when the installation is complete.
install_engine() {
  mkdir -p "$folder"
  if [ ! -d "$root" ]; then
    rm -rf --one-file-system "$root.part"
    timeout 240 mmdebstrap --quiet --variant=minbase \
      --include=docker.io,docker-cli,docker-buildx,docker-compose,iptables,ca-certificates \
      trixie "$root.part"
    mkdir "$root.part/checkout"
    mv "$root.part" "$root"
  fi
}

# Assembles the parts of the official node:24-bookworm-slim image that a Dockerfile needs.
install_base() {
  local packages
  [ ! -d "$base" ] || return 0
  rm -rf --one-file-system "$base.part"
  timeout 240 mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$base.part"
  packages=$(mktemp -d)
  (
    cd "$packages"
    timeout 120 npm pack --silent "node-linux-$(node -p process.arch)@24" npm@11 > /dev/null
  )
  tar -xzf "$packages"/node-*.tgz -C "$base.part/usr/local" --strip-components=1 package/bin
  mkdir -p "$base.part/usr/local/lib/node_modules/npm"
  tar -xzf "$packages"/npm-*.tgz -C "$base.part/usr/local/lib/node_modules/npm" --strip-components=1
  rm -rf "$packages"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base.part/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$base.part/usr/local/bin/npx"
  chroot "$base.part" groupadd --gid 1000 node
  chroot "$base.part" useradd --uid 1000 --gid node --shell /bin/bash --create-home node
  mv "$base.part" "$base"
}

start() {
  check
  stop
  install_tools
  install_base > "$folder.base.log" 2>&1 &
  local installing=$!
  install_engine
  wait "$installing" || { cat "$folder.base.log" >&2 && exit 1; }
  rm -f "$folder.base.log"
  setsid unshare --mount --net --pid --uts --ipc --fork --kill-child "$0" inside "$folder" \
    > "$folder/engine.log" 2>&1 < /dev/null &
  echo $! > "$folder/pid"
  for _ in $(seq 100); do
    if run docker version > /dev/null 2>&1; then break; fi
    sleep 0.3
  done
  run docker version > /dev/null || { cat "$folder/engine.log" >&2 && exit 1; }
  setsid slirp4netns --configure --disable-host-loopback "$(engine)" tap0 \
    > "$folder/network.log" 2>&1 < /dev/null &
  echo $! > "$folder/network.pid"
  # The package registries may be mirrors, so the image must trust this machine's certificates.
  cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
  tar -C "$base" -c . | run docker import \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' \
    - node:24-bookworm-slim > /dev/null
}

# Runs inside `unshare`. Makes the folder the root file system, then becomes the engine.
inside() {
  mount --make-rprivate /
  mount --bind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs tmpfs run
  mount --bind -o ro "$checkout" checkout
  cp /etc/resolv.conf etc/resolv.conf
  mkdir -p old
  pivot_root . old
  umount -l /old
  exec dockerd
}

# Prints the engine's process id on this machine.
engine() {
  cat "/proc/$(cat "$folder/pid")/task/$(cat "$folder/pid")/children" | tr -d ' '
}

run() {
  nsenter --target "$(engine)" --mount --net --pid --uts --ipc \
    sh -c 'cd /checkout && exec "$@"' sh "$@"
}

net() {
  nsenter --target "$(engine)" --net "$@"
}

stop() {
  local name process
  for name in network.pid pid; do
    [ -s "$folder/$name" ] || continue
    process=$(cat "$folder/$name")
    # By now, the id may belong to another process.
    if grep -qaE 'slirp4netns|engine\.sh' "/proc/$process/cmdline" 2> /dev/null; then
      kill -KILL "$process"
    fi
    rm -f "$folder/$name"
  done
}

case $action in
  check | start | stop | inside) "$action" ;;
  run | net) shift 2 && "$action" "$@" ;;
esac
