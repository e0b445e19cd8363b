#include "lab/workload/array_file.hpp"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_for(int error) {
    throw ArrayRefusal{std::generic_category().message(error), message("npy.name_readable")};
}

}  // namespace

ArrayInput::ArrayInput(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) refuse_for(error.value());
    if (fs::is_directory(status)) throw ArrayRefusal{message("npy.folder"), message("npy.name_file_in_it")};
    if (!fs::is_regular_file(status)) throw ArrayRefusal{message("npy.no_regular_file"), message("npy.save_to_file")};
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_) refuse_for(errno);
    left_ = static_cast<Bytes>(fs::file_size(path, error));
    if (error) refuse_for(error.value());
}

void ArrayInput::read(std::span<char> to) {
    if (!file_.read(to.data(), static_cast<std::streamsize>(to.size())))
        throw ArrayRefusal{message("npy.reading_failed"), message("npy.check_disk")};
    left_ -= static_cast<Bytes>(to.size());
}

std::string ArrayInput::read(Bytes n) {
    std::string out(static_cast<std::size_t>(n), '\0');
    read(std::span(out));
    return out;
}

void ArrayInput::skip(Bytes n) {
    file_.seekg(n, std::ios::cur);
    left_ -= n;
}

Bytes little_endian(std::string_view bytes) {
    Bytes n = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
    return n;
}

}  // namespace tilescope::lab
