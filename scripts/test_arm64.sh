#!/usr/bin/env bash
# The two commands on 64-bit Arm: makes a Debian arm64 system in build/arm64-root, copies the sources into it and
# runs there `make demo`, then those of the C++ tests that an emulator has time for. On an x86-64 machine every program of that
# system is emulated, save the compiler: this machine's cross compiler is bound into it, since an emulated one
# takes hours.
# Needs Linux, root, mmdebstrap and, on x86-64, qemu-user-static, arch-test, g++-aarch64-linux-gnu. Exit code 77:
# it cannot run here, and says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD/build/arm64-root
cross=opt/cross # in the root
emulated_cpu=max
# With ccache the build with tests takes the other one's objects.
mapfile -t packages < <(scripts/dependencies.sh run --list; printf '%s\n' libgtest-dev libgmock-dev ccache)
# The others compute for long, which scripts/test.sh does for Arm in small, or hold replies to deadlines, which an
# emulator misses.
suites=(test_base test_spec test_checkpoint test_text test_sample)

cannot() {
  echo "The Arm system cannot be tested here: $*" >&2
  exit 77
}

[[ $(uname) == Linux ]] || cannot "expected Linux, found $(uname)"
((EUID == 0)) || cannot "a chroot needs root; run it as root"
command -v mmdebstrap >/dev/null || cannot "mmdebstrap is missing (apt-get install mmdebstrap)"
machine=$(uname -m)
if [[ $machine == x86_64 ]]; then
  command -v arch-test >/dev/null || cannot "arch-test is missing (apt-get install arch-test)"
  arch-test arm64 >/dev/null || cannot "the kernel does not start arm64 programs; install qemu-user-static, and" \
    "where nothing has registered it: mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc;" \
    "cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register"
  command -v aarch64-linux-gnu-g++ >/dev/null ||
    cannot "the cross compiler is missing (apt-get install g++-aarch64-linux-gnu)"
elif [[ $machine != aarch64 ]]; then
  cannot "expected x86_64 or aarch64, found $machine"
fi

make_root() {
  local suite list
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  list=$(IFS=,; echo "${packages[*]}")
  rm -rf "$root"
  mkdir -p build
  echo "Making an arm64 system of $suite in $root"
  mmdebstrap --quiet --arch=arm64 --variant=apt --include="$list" "$suite" "$root"
  touch "$root/.complete"
}

# A folder of this machine, read-only, at a place in the root.
bind() {
  mkdir -p "$root/$2"
  mount --bind -o ro "$1" "$root/$2"
}

# The cross compiler finds its parts beside itself; a script of its C library names them by their usual place.
bind_compiler() {
  local tool
  mkdir -p "$root/lib64" "$root/$cross/bin"
  cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
  for tool in g++ gcc as ld; do
    cp -L "$(command -v aarch64-linux-gnu-$tool)" "$root/$cross/bin/aarch64-linux-gnu-$tool"
  done
  bind /usr/lib/x86_64-linux-gnu usr/lib/x86_64-linux-gnu
  bind /usr/lib/gcc-cross "$cross/lib/gcc-cross"
  bind /usr/aarch64-linux-gnu "$cross/aarch64-linux-gnu"
  bind /usr/aarch64-linux-gnu usr/aarch64-linux-gnu
  export CC=/$cross/bin/aarch64-linux-gnu-gcc CXX=/$cross/bin/aarch64-linux-gnu-g++
}

in_root() {
  echo "In the arm64 system: $*"
  env -u LD_LIBRARY_PATH HOME=/root TMPDIR=/tmp QEMU_CPU=$emulated_cpu PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$root" /bin/bash -c 'cd /orfebre && "$@"' bash "$@"
}

run_commands() {
  mkdir -p "$root/orfebre"
  git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --ignore-failed-read -cf - |
    tar -xf - --no-same-owner -C "$root/orfebre"
  cp -L /etc/resolv.conf "$root/etc/" # a package that a newer commit needs is installed by its make demo
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  [[ $machine == aarch64 ]] || bind_compiler
  in_root uname -m
  in_root make demo PORT="${PORT:-18082}"
  in_root scripts/build.sh dev "${suites[@]}"
  in_root ctest --test-dir build/dev --output-on-failure --timeout 3600 -R "^($(IFS='|'; echo "${suites[*]}"))\$"
}

if [[ ${1:-} == --in-namespace ]]; then # its mounts end with it
  run_commands
else
  [[ -e $root/.complete ]] || make_root
  exec unshare --mount --propagation private "$0" --in-namespace
fi
