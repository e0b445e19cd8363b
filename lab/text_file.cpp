#include "lab/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tilescope::lab {

std::string read_text(const std::string& path) {
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
    std::string text(most_text_bytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) throw cannot("read", errno);
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_text_bytes) throw Unreadable{"is larger than 1 MiB"};
    return text;
}

}  // namespace tilescope::lab
