#!/bin/bash
# g++ 12.2 with AVX-512 passes a structure by value wrongly: members that are 0 arrive with the value of the first two.
#
# One guesses: -O2 -march=native changes speed, not results, of a program without undefined behaviour.
# What happens: of take({128, 128}), a structure of eleven longs whose other members are 0, four members arrive as 128 with
# -march=skylake-avx512 or icelake-server, seven with -march=x86-64-v4 or cooperlake. The compiler has a vector of the two
# values and stores as many as a register holds. x86-64-v3 and -O1 are right, and so are -fno-tree-slp-vectorize and
# "-mmove-max=128 -mstore-max=128" together (either alone is not). clang 14 is right.
# Version: g++-12 12.2.0-14+deb12u1 (Debian 12's compiler). Source: a program of four lines and its assembly.
# Whom it hurts: who builds numerical code with -march=native on a server with AVX-512 and passes sizes in structures.
set -euo pipefail
version=12.2.0-14+deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in "g++-12=$version" "gcc-12=$version" "cpp-12=$version" libisl23 libmpc3 libmpfr6 libgmp10 libzstd1; do
    apt-get -qq download "$package" >>download.log 2>&1
done
for file in *.deb; do dpkg -x "$file" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
compile() { LD_LIBRARY_PATH=$libraries "$folder/root/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus" -quiet -std=c++20 "$@"; }
LD_LIBRARY_PATH=$libraries root/usr/bin/x86_64-linux-gnu-g++-12 --version | head -n 1

cat >program.cpp <<'END'
struct Sizes { long a, b, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0; };
void take(Sizes);
void call() { take({128, 128}); }
END
# The register that goes to the first members on the stack: xmm is two of them, ymm four, zmm eight (the last is mended).
stored() {
    compile -O2 "$@" program.cpp -o program.s
    echo "$*: $(grep -oE 'vmovdqu(64)?[[:space:]]+%[xyz]mm[0-9]+, \(%rsp\)' program.s | grep -oE '[xyz]mm')" | tee -a seen
}
stored -march=skylake-avx512
stored -march=x86-64-v4
stored -march=skylake-avx512 -mmove-max=128 -mstore-max=128
stored -march=x86-64-v3
cat >expected <<'END'
-march=skylake-avx512: ymm
-march=x86-64-v4: zmm
-march=skylake-avx512 -mmove-max=128 -mstore-max=128: xmm
-march=x86-64-v3: xmm
END
cmp seen expected
# Where the processor can run it: what arrives.
if grep -qw avx512vl /proc/cpuinfo && command -v cc >/dev/null; then
    cat >main.c <<'END'
#include <stdio.h>
struct Sizes { long m[11]; };
void take(struct Sizes s) __asm__("_Z4take5Sizes");
void call(void) __asm__("_Z4callv");
void take(struct Sizes s) {
    for (int k = 0; k < 11; ++k) printf("%ld%c", s.m[k], k < 10 ? ' ' : '\n');
}
int main(void) { call(); }
END
    compile -O2 -march=skylake-avx512 program.cpp -o program.s
    cc -O0 main.c program.s -o program
    ./program | tee arrived
    echo "128 128 128 128 0 0 0 0 0 0 0" | cmp - arrived
fi
echo "as described"
