# What is different where emcmake configures: the page (gui/web). Everything comes from the distribution; nothing is
# downloaded. scripts/web installs it, and says where Dear ImGui's sources and the fonts are.

set(TILESCOPE_IMGUI "" CACHE PATH "Dear ImGui's source, as `apt-get source imgui` unpacks it")
set(TILESCOPE_FONTS "/usr/share/fonts" CACHE PATH "Folder of fonts for the page, laid out as /usr/share/fonts")
add_compile_options(-fwasm-exceptions -msimd128 -mnontrapping-fptoint -flto)
add_link_options(-fwasm-exceptions -flto -Oz)
# Eigen has no vectors for WebAssembly, but emscripten makes those of SSE. It lacks MMX, which none of them is made of, and
# what Eigen writes in assembly for GCC up to 6.2 and from 6.0 on: a "GCC" 5.13 is neither.
target_compile_options(Eigen3::Eigen INTERFACE -msse4.1 -D__MMINTRIN_H -fgnuc-version=5.13)
# std::function without a virtual table, a copy function and type information for each lambda.
add_compile_definitions(_LIBCPP_NO_RTTI _LIBCPP_ABI_OPTIMIZED_FUNCTION)  # exceptions keep their type information

# /usr/include itself would mix in the headers of this machine's C library.
set(headers "${CMAKE_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${headers}")
foreach(library CLI nlohmann catch2)
    if(EXISTS "/usr/include/${library}")
        file(CREATE_LINK "/usr/include/${library}" "${headers}/${library}" SYMBOLIC)
    endif()
endforeach()
foreach(target CLI11::CLI11 nlohmann_json::nlohmann_json Catch2::Catch2)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${headers}")
endforeach()
