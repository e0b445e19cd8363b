#include "lab/system/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tilescope::lab {

std::string read_text(const std::string& path, std::size_t most) {
    const auto cannot = [](const char* what, int error) {
        return Unreadable{std::string("cannot be ") + what + " (" + std::generic_category().message(error) + ")"};
    };
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) throw cannot("opened", error ? error.value() : ENOENT);
    if (std::filesystem::is_directory(status)) throw Unreadable{"is a folder"};
    if (!std::filesystem::is_regular_file(status)) throw Unreadable{"is not a regular file"};
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) throw cannot("opened", errno);
    std::string text;
    for (char some[1 << 16]; text.size() <= most && (in.read(some, sizeof some), in.gcount() > 0);)
        text.append(some, static_cast<std::size_t>(in.gcount()));
    if (in.bad()) throw cannot("read", errno);
    if (text.size() > most) throw Unreadable{"is larger than " + std::to_string(most >> 20) + " MiB"};
    return text;
}

}  // namespace tilescope::lab
