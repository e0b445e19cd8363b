#include "lab/system/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The id of the message that says what to do about an error.
const char* fix_for(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "output.other_folder";
        case EISDIR:
            return "output.file_in_folder";
        case EACCES:
        case EPERM:
        case EROFS:
            return "output.other_place";
        case ENOSPC:
        case EDQUOT:
            return "output.more_space";
        case ENAMETOOLONG:
            return "output.shorter_name";
        default:
            return "output.other_file";
    }
}

int open_emptied(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor < 0) cannot_write(text::shown(path), errno);
    return descriptor;
}

/// The next file that is opened would get a descriptor below 3 that was closed before the program began, and output
/// for a terminal would go into the file. Here /dev/null takes its place, opened so that using it fails.
void fill_standard_descriptors() {
    for (int d = STDIN_FILENO; d <= STDERR_FILENO; ++d)
        if (::fcntl(d, F_GETFD) < 0) (void)::open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

void cannot_write(const std::string& name, int error) {
    // Only a signal that the program handles, a request to stop, makes a call end with EINTR.
    if (error == EINTR) throw Interrupted();
    const std::string what = message("output.cannot_write", name, std::generic_category().message(error));
    if (error == EPIPE) throw ClosedPipe(what);
    throw RunError(message("output.and_fix", what, message(fix_for(error))));
}

class Output::Buffer : public std::streambuf {
  public:
    Buffer(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)), bytes_(1 << 16) {
        reset();
    }
    ~Buffer() override {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void close() {
        if (descriptor_ < 0) return;
        sync();
        if (::close(std::exchange(descriptor_, -1)) != 0) cannot_write(name_, errno);
    }

  protected:
    int sync() override {
        const char* at = pbase();
        const char* const end = pptr();
        reset();  // where a write fails, its bytes are not tried again
        while (at < end) {
            const ssize_t written = ::write(descriptor_, at, static_cast<std::size_t>(end - at));
            if (written < 0) cannot_write(name_, errno);
            at += written;
        }
        return 0;
    }

    int_type overflow(int_type c) override {
        sync();
        return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                               : sputc(traits_type::to_char_type(c));
    }

  private:
    void reset() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

    int descriptor_;
    std::string name_;
    std::vector<char> bytes_;
};

Output::Output(int descriptor, std::string name)
    : std::ostream(nullptr), buffer_(std::make_unique<Buffer>(descriptor, std::move(name))) {
    rdbuf(buffer_.get());
    exceptions(std::ios::badbit);  // so that exceptions of the buffer reach the writer
}

Output::Output(const std::string& path) : Output(open_emptied(path), text::shown(path)) {}

Output::~Output() = default;

void Output::close() { buffer_->close(); }

StandardOutput::StandardOutput() {
    fill_standard_descriptors();
    output_ = std::make_unique<Output>(STDOUT_FILENO, message("output.standard_output"));
    before_ = std::cout.rdbuf(output_->rdbuf());
    std::cout.exceptions(std::ios::badbit);
}

StandardOutput::~StandardOutput() {
    std::cout.exceptions(std::ios::goodbit);
    std::cout.rdbuf(before_);
}

}  // namespace tilescope::lab
