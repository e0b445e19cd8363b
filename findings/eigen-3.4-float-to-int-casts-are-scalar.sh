#!/bin/bash
# Eigen 3.4.0 has no vectors of a cast from float to int, with AVX2 or AVX-512: one number an instruction at g++'s -O2.
#
# One guesses: Eigen vectorizes explicitly, so that array.cast<int>() is as fast as array.floor(), whatever the
# compiler's level; the processor has one instruction for it (vcvttps2dq), and Eigen's own pcast<Packet8f, Packet8i> is it.
# What happens: scalar_cast_op says that it has no packets (functor_traits: PacketAccess 0), and with AVX
# type_casting_traits<float, int> that the cast is not vectorized. Loops over it are left to the compiler: g++ 12 makes
# vectors of them at -O3 and none at -O2. max(0).floor() + min(0).ceil(), which cuts towards 0 as well, is vectorized at -O2,
# and took a simulation of tensor cores that cut sums from 6.2 to 2.2 seconds of a processor.
# Version: libeigen3-dev 3.4.0-4 (Debian 12), with the compiler that is there. Source: Eigen/src/Core/functors/
# UnaryFunctors.h and arch/AVX/TypeCasting.h, a program of two functions and its assembly.
# Whom it hurts: who simulates number formats with Eigen, and rounds by a cast to int and back.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq download libeigen3-dev=3.4.0-4 >download.log 2>&1
dpkg -x libeigen3-dev_*.deb root
g++ --version | head -n 1

cat >program.cpp <<'END'
#include <Eigen/Core>
#include <cstdio>
using Floats = Eigen::Map<const Eigen::ArrayXf>;
#ifdef CAST
void run(const float* x, int* y, long n) { Eigen::Map<Eigen::ArrayXi>(y, n) = Floats(x, n).cast<int>(); }
#else
void run(const float* x, float* y, long n) {
    Eigen::Map<Eigen::ArrayXf>(y, n) = Floats(x, n).max(0.f).floor() + Floats(x, n).min(0.f).ceil();
}
#endif
int main() {
    using namespace Eigen::internal;
    std::printf("functor_traits<scalar_cast_op<float, int>>::PacketAccess %d\n",
                int(functor_traits<scalar_cast_op<float, int>>::PacketAccess));
    std::printf("type_casting_traits<float, int>::VectorizedCast %d\n",
                int(type_casting_traits<float, int>::VectorizedCast));
}
END
count() { grep -c "$1" program.s || :; }
for flags in "-mavx2 -mfma" -march=skylake-avx512; do
    # shellcheck disable=SC2086  # a list of options
    for how in -DCAST -DCUT; do
        g++ -std=c++17 -O2 $flags $how -DNDEBUG -Iroot/usr/include/eigen3 -S program.cpp -o program.s
        echo "$flags $how: vcvttps2dq $(count vcvttps2dq), rounding of packets $(count 'vr[a-z]*scale\?ps\|vroundps' | sed 's/[1-9][0-9]*/some/')"
    done
done | tee seen
g++ -std=c++17 -O2 -mavx2 -Iroot/usr/include/eigen3 program.cpp -o program
./program | tee -a seen
cat >expected <<'END'
-mavx2 -mfma -DCAST: vcvttps2dq 0, rounding of packets 0
-mavx2 -mfma -DCUT: vcvttps2dq 0, rounding of packets some
-march=skylake-avx512 -DCAST: vcvttps2dq 0, rounding of packets 0
-march=skylake-avx512 -DCUT: vcvttps2dq 0, rounding of packets some
functor_traits<scalar_cast_op<float, int>>::PacketAccess 0
type_casting_traits<float, int>::VectorizedCast 0
END
cmp seen expected
echo "as described"
