# tilescope_native_flags(<variable>): the flags that use every instruction of this machine's processor; none where there are
# none that this compiler gets right.
#
# g++ 12.2 (Debian 12) with AVX-512 passes some structures by value wrongly: where the first members have one value and the
# others are 0, more of them than the first arrive with that value. Copies of at most 16 bytes at once do not have the fault.
# The compiler is asked rather than its version: the program below is built and run.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceRuns)

function(tilescope_native_flags variable)
    check_cxx_compiler_flag(-march=native TILESCOPE_HAS_MARCH_NATIVE)
    set(${variable} "" PARENT_SCOPE)
    if(NOT TILESCOPE_HAS_MARCH_NATIVE)
        return()
    endif()
    set(passes_a_structure [[
        struct Sizes { long br, bc, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0; };
        __attribute__((noinline)) bool arrived(Sizes s) {
            __asm__ volatile("" ::: "memory");
            return s.br == 128 && s.bc == 128 && !(s.c | s.d | s.e | s.f | s.g | s.h | s.i | s.j | s.k);
        }
        int main() { return arrived({128, 128}) ? 0 : 1; }]])
    set(native -march=native)
    set(copies_16_bytes -march=native -mmove-max=128 -mstore-max=128)
    foreach(flags native copies_16_bytes)
        set(CMAKE_REQUIRED_FLAGS "-O2")
        set(CMAKE_REQUIRED_DEFINITIONS ${${flags}})
        string(TOUPPER "TILESCOPE_${flags}_IS_RIGHT" right)
        check_cxx_source_runs("${passes_a_structure}" ${right})
        if(${right})
            set(${variable} ${${flags}} PARENT_SCOPE)
            return()
        endif()
    endforeach()
    message(STATUS "${CMAKE_CXX_COMPILER} compiles wrongly for this processor: building for any (TILESCOPE_NATIVE=OFF)")
endfunction()
