#include "lab/system/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;

std::string read_text(const std::string& path, std::size_t most) {
    const auto cannot_be_opened = [](int error) {
        return Unreadable{message("text_file.cannot_be_opened", std::generic_category().message(error))};
    };
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) throw cannot_be_opened(error ? error.value() : ENOENT);
    if (std::filesystem::is_directory(status)) throw Unreadable{message("text_file.folder")};
    if (!std::filesystem::is_regular_file(status)) throw Unreadable{message("text_file.not_regular")};
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) throw cannot_be_opened(errno);
    std::string text;
    for (char some[1 << 16]; text.size() <= most && (in.read(some, sizeof some), in.gcount() > 0);)
        text.append(some, static_cast<std::size_t>(in.gcount()));
    if (in.bad()) throw Unreadable{message("text_file.cannot_be_read", std::generic_category().message(errno))};
    if (text.size() > most) throw Unreadable{message("text_file.too_large", std::to_string(most >> 20))};
    return text;
}

}  // namespace tilescope::lab
