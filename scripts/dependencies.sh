#!/usr/bin/env bash
# The only list of packages that this project needs, and the only place that installs them.
#   scripts/dependencies.sh run | test | test-all | bench | lint [--list]
# --list names the packages, a line each, and does nothing else.
# Everything present: returns at once, offline, without asking for rights. On Debian and Ubuntu the missing
# packages are named, then installed (as root, or through sudo). Elsewhere whatever is found is used; what is
# not found is named and the exit code is 2.
set -euo pipefail

run_packages=(make g++ cmake ninja-build pkg-config python3
  libfmt-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev libboost-dev
  libssl-dev libpcre2-dev libutf8proc-dev libedit-dev libxxhash-dev)
test_packages=(libgtest-dev libgmock-dev python3-venv ccache git strace openssl
  clang libclang-rt-dev)
# The Arm kernels are cross-compiled and run in an emulator; on an Arm machine they are simply tested.
# test-all also makes a whole arm64 system.
test_all_packages=()
if [[ $(uname -sm) == "Linux x86_64" ]]; then
  test_packages+=(g++-aarch64-linux-gnu qemu-user googletest)
  test_all_packages+=(mmdebstrap arch-test qemu-user-static)
elif [[ $(uname -sm) == "Linux aarch64" ]]; then
  test_all_packages+=(mmdebstrap)
fi
bench_packages=(libbenchmark-dev ccache)
lint_packages=(clang-format clang-tidy shellcheck git)

purpose=${1:-run}
packages=("${run_packages[@]}")
case $purpose in
  run) ;;
  test) packages+=("${test_packages[@]}") ;;
  test-all) packages+=("${test_packages[@]}" ${test_all_packages[@]+"${test_all_packages[@]}"}) ;;
  bench) packages+=("${bench_packages[@]}") ;;
  lint) packages+=("${test_packages[@]}" "${lint_packages[@]}") ;;
  *) echo "usage: scripts/dependencies.sh run | test | test-all | bench | lint [--list]" >&2; exit 2 ;;
esac
if [[ ${2:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit
fi

is_debian() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null
}

install_debian() {
  local missing=() package installed
  installed=$(dpkg-query -W -f='${Package} ${Status}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/ install ok installed$//p' || true)
  for package in "${packages[@]}"; do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local sudo=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing: ${missing[*]}" >&2
      echo "Install them as root: apt-get install ${missing[*]}" >&2
      exit 2
    fi
    sudo=(sudo)
  fi
  echo "Installing with apt-get${sudo[*]:+ through sudo} (a few minutes): ${missing[*]}"
  quietly "${sudo[@]}" apt-get -qq update
  quietly "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}"
}

# quietly <command>...: its hundreds of lines are shown only when it fails, and only the last.
quietly() {
  local said
  if ! said=$("$@" </dev/null 2>&1); then
    tail -n 30 <<<"$said" >&2
    echo "Installing packages failed: $*" >&2
    exit 1
  fi
}

# has_header <header>...: whether the C++ compiler finds them, with pkg-config's help.
has_header() {
  local flags
  flags=$(pkg-config --cflags fmt openssl libpcre2-8 libutf8proc libedit libxxhash 2>/dev/null || true)
  # shellcheck disable=SC2086
  printf '#include <%s>\n' "$@" | ${CXX:-c++} -std=c++20 $flags -E -x c++ - >/dev/null 2>&1
}

name_missing_elsewhere() {
  local missing=() need
  for need in make cmake ninja pkg-config python3 "${CXX:-c++}"; do
    command -v "$need" >/dev/null || missing+=("the program $need")
  done
  if [[ $purpose == test* && $(uname) == Linux ]] && ! command -v clang++ >/dev/null; then
    missing+=("the program clang++, with libFuzzer")
  fi
  if [[ $purpose == test* && $(uname) == Linux ]] && ! command -v strace >/dev/null; then
    missing+=("the program strace")
  fi
  local headers=(fmt/core.h nlohmann/json.hpp simdjson.h CLI/CLI.hpp boost/beast.hpp openssl/ssl.h
    utf8proc.h histedit.h xxhash.h)
  [[ $purpose == test* || $purpose == lint ]] && headers+=(gtest/gtest.h gmock/gmock.h)
  [[ $purpose == bench ]] && headers+=(benchmark/benchmark.h)
  if command -v "${CXX:-c++}" >/dev/null; then
    for need in "${headers[@]}"; do
      has_header "$need" || missing+=("the C++ header <$need>")
    done
    pkg-config --exists libpcre2-8 2>/dev/null || missing+=("the library libpcre2-8 (pkg-config)")
  fi
  ((${#missing[@]})) || return 0
  echo "This is neither Debian nor Ubuntu, so nothing is installed here. Missing:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  echo "Install them with your system's package manager (Debian's names: ${packages[*]}) and try again." >&2
  exit 2
}

if is_debian; then
  install_debian
else
  name_missing_elsewhere
fi
