# tilescope_library(NAME sources... ) and the flags that all of TileScope is built with.

# The Python that the distribution's packages belong to (python3-dev, python3-numpy), whatever is on the PATH.
find_program(TILESCOPE_PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)

add_library(tilescope_flags INTERFACE)
target_include_directories(tilescope_flags INTERFACE "${PROJECT_SOURCE_DIR}")
# Programs know their source files by paths that are the same on every machine (core/machine/here.hpp takes the root off),
# also where a compiler cache makes them relative to the folder of the build.
file(RELATIVE_PATH up "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/core")
string(REGEX REPLACE "core$" "" up "${up}")
foreach(root "${PROJECT_SOURCE_DIR}/" "${up}")
    target_compile_options(tilescope_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${root}=TileScope:>)
endforeach()
target_link_libraries(tilescope_flags INTERFACE Threads::Threads)
# Eigen counts as TileScope does (Index), also where pointers have 32 bits.
target_compile_definitions(Eigen3::Eigen INTERFACE EIGEN_DEFAULT_DENSE_INDEX_TYPE=std::int64_t)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# g++ 12 sees overlaps in the concatenation of a literal and a std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict)
endif()
# g++ 13 takes references to what lives on for dangling ones, where an argument is a temporary (GCC bug 107532).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND warnings -Wno-dangling-reference)
endif()
if(TILESCOPE_WERROR)
    list(APPEND warnings -Werror)
endif()
if(TILESCOPE_NATIVE)
    include(native)
    tilescope_native_flags(native)
    target_compile_options(tilescope_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${native}>")
    # g++ 12 takes its own AVX-512 intrinsics for uses of uninitialised values (GCC bug 105593).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND warnings -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
endif()
target_compile_options(tilescope_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
if(TILESCOPE_SANITIZE)
    target_compile_definitions(tilescope_flags INTERFACE TILESCOPE_SANITIZED)  # compilers have names of their own for it
    target_compile_options(tilescope_flags INTERFACE -fsanitize=${TILESCOPE_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    target_link_options(tilescope_flags INTERFACE -fsanitize=${TILESCOPE_SANITIZE})
endif()

# Its libraries go into shared objects, too: Python's, and programs of one's own that are loaded (docs/own-algorithm.md).
# Their functions are not to be replaced there, so that calls within a file stay as fast as elsewhere.
if(NOT EMSCRIPTEN)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    target_compile_options(tilescope_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
endif()

# Most of a file's time goes to the headers and templates that it shares with its neighbours: compiled together, a build
# from nothing takes a third. Names local to a file (in an unnamed namespace) differ from those of its whole library: with
# few processors each library is compiled at once, with many in batches that keep them all at work.
set(CMAKE_UNITY_BUILD ${TILESCOPE_UNITY})
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
if(processors LESS_EQUAL 4)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
else()
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()

# Cuts a library that takes longer than others, so that few processors end at about the same time.
function(tilescope_in_parts target parts)
    if(CMAKE_UNITY_BUILD_BATCH_SIZE EQUAL 0)
        get_target_property(sources ${target} SOURCES)
        list(LENGTH sources number)
        math(EXPR size "(${number} + ${parts} - 1) / ${parts}")
        set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
    endif()
endfunction()

function(tilescope_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC tilescope_flags)
endfunction()

# What compilers spend more time on than runs do: optimising it under a sanitizer takes more than half of that time.
function(tilescope_seldom_runs name)
    if(TILESCOPE_SANITIZE)
        target_compile_options(${name} PRIVATE -O0)
    endif()
    tilescope_small(${name})
endfunction()

# What tests run most of the time: under AddressSanitizer calls that are not inlined take longer than what they do.
function(tilescope_often_runs name)
    if(TILESCOPE_SANITIZE MATCHES "address")
        target_compile_options(${name} PRIVATE -O2)
    endif()
endfunction()

# The page is sent before it runs: what is no loop over numbers is to be small there.
function(tilescope_small name)
    if(EMSCRIPTEN)
        target_compile_options(${name} PRIVATE -Oz)
    endif()
endfunction()

# Of a library, the files that are to be small. They are compiled together, apart from the others: files with options of
# their own would each be compiled alone.
function(tilescope_small_files name)
    if(NOT EMSCRIPTEN)
        return()
    endif()
    get_target_property(sources ${name} SOURCES)
    list(REMOVE_ITEM sources ${ARGN})
    set_target_properties(${name} PROPERTIES SOURCES "${sources}")
    add_library(${name}_small OBJECT ${ARGN})
    target_compile_definitions(${name}_small PRIVATE $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
    target_link_libraries(${name}_small PRIVATE $<TARGET_PROPERTY:${name},LINK_LIBRARIES>)
    tilescope_small(${name}_small)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_small>)
endfunction()

# Files that stay fast in a library that is to be small.
function(tilescope_fast_files)
    if(EMSCRIPTEN)
        set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Os)
    endif()
endfunction()
