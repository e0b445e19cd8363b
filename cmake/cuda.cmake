# Finds nvcc, on PATH or in the toolkit's usual place, and says whether kernels are built: TILESCOPE_HAS_CUDA.

set(TILESCOPE_HAS_CUDA OFF)
if(NOT TILESCOPE_CUDA STREQUAL "OFF")
    find_program(TILESCOPE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(TILESCOPE_NVCC)
        set(TILESCOPE_HAS_CUDA ON)
        set(CMAKE_CUDA_COMPILER "${TILESCOPE_NVCC}")
        if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER)
            set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
        endif()
        set(CMAKE_CUDA_ARCHITECTURES "${TILESCOPE_CUDA_ARCHITECTURES}")
        set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
        set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
        enable_language(CUDA)
        if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
            set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
            set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
        endif()
        set(CMAKE_CUDA_STANDARD 20)
        set(CMAKE_CUDA_STANDARD_REQUIRED ON)
        find_package(CUDAToolkit REQUIRED)
    elseif(TILESCOPE_CUDA STREQUAL "ON")
        message(FATAL_ERROR "TILESCOPE_CUDA=ON, but nvcc is neither on PATH nor in /usr/local/cuda/bin: install the "
                            "CUDA toolkit, set CUDA_HOME, or configure with -DTILESCOPE_CUDA=OFF.")
    else()
        message(STATUS "CUDA: nvcc not found; building without kernels (set CUDA_HOME to the toolkit to have them)")
    endif()
endif()

# The flags that kernels are built with. A spilled register is traffic that the model does not have, and the counters
# show it.
function(tilescope_cuda_options name)
    set(options --expt-relaxed-constexpr --threads=2 -Xcompiler=-Wall,-Wno-parentheses -Xptxas=-warn-spills)
    if(TILESCOPE_WERROR)
        list(APPEND options -Werror=all-warnings -Xptxas=-Werror)
    endif()
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
    # Each kernel is compiled alone: since 3.31 CMake would put them together, too, and their shared[] have several types.
    get_target_property(sources ${name} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
