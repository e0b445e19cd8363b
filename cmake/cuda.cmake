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
        string(APPEND CMAKE_CUDA_FLAGS " -std=c++20")  # CMake 3.25 does not know that nvcc 13 does
        set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
    elseif(TILESCOPE_CUDA STREQUAL "ON")
        message(FATAL_ERROR "TILESCOPE_CUDA=ON, but nvcc is neither on PATH nor in /usr/local/cuda/bin: install the "
                            "CUDA toolkit, set CUDA_HOME, or configure with -DTILESCOPE_CUDA=OFF.")
    else()
        message(STATUS "CUDA: nvcc not found; building without kernels (set CUDA_HOME to the toolkit to have them)")
    endif()
endif()
