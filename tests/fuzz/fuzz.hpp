// Shared by all fuzzers. Each defines LLVMFuzzerTestOneInput, which ends the program where something that must hold
// does not. Each runs in two ways: over the inputs in corpus/, as an ordinary test, and with libFuzzer, which looks for
// more.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/error.hpp"
#include "tests/support/folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tilescope::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what.c_str());
    std::abort();
}

/// A message is one printable line, whatever was in the input.
inline void check_message(std::string_view message) {
    require(!message.empty(), "a message says something");
    require(message.size() < 2000, "a message is short: " + std::string(message.substr(0, 2000)));
    for (const char c : message)
        require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f,
                "a message has no control characters: " + std::string(message));
}

/// Runs f and returns whether it succeeded. A refusal has to be one of TileScope's exceptions, with a printable
/// message.
template <class F>
bool accepted(F&& f) {
    try {
        f();
        return true;
    } catch (const UsageError& e) {
        check_message(e.what());
    } catch (const RunError& e) {
        check_message(e.what());
    }
    return false;
}

/// A file of this name with these bytes, in a folder that is removed when the program ends.
inline std::string file_of(const char* name, std::string_view bytes) {
    static const Folder folder;
    write_bytes(folder / name, bytes);
    return folder / name;
}

}  // namespace tilescope::fuzz
