#!/bin/sh
# Builds a static kubist for x86_64 Linux, and puts it where the argument says.
#
# It takes a C compiler for musl, or any: the C code within needs nothing of its libc's headers that differs. What is
# built is smaller than a usual release: one unit for everything, and addresses that are known when it is linked.
set -eu
target=x86_64-unknown-linux-musl
command -v musl-gcc >/dev/null || export CC_x86_64_unknown_linux_musl="${CC:-cc}"
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C relocation-model=static"
cargo build --release --locked --package kubist --bin kubist --target "$target" --config 'profile.release.lto="fat"'
cp "${CARGO_TARGET_DIR:-target}/$target/release/kubist" "$1"
