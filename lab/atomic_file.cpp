#include "lab/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include "core/machine/error.hpp"

namespace tilescope::lab {
namespace {

namespace fs = std::filesystem;

const char* fix_for(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "name a file in a folder that exists";
        case EISDIR:
            return "name a file in it";
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a place you may write to";
        case ENOSPC:
        case EDQUOT:
            return "free some space or choose another disk";
        case ENAMETOOLONG:
            return "choose a shorter name";
        default:
            return "choose another file";
    }
}

[[noreturn]] void fail(const std::string& path, int error) {
    // Only a signal that the program handles, a request to stop, makes a call end with EINTR.
    if (error == EINTR) throw Interrupted();
    throw RunError("cannot write " + in_quotes(path) + ": " + std::generic_category().message(error) + "; " +
                   fix_for(error));
}

/// Whether `path` is one of the names of this process's open files: what /dev/stdout links to.
bool is_open_descriptor(const fs::path& path) {
    std::error_code error;
    if (!fs::is_symlink(path, error)) return false;
    const fs::path own = fs::canonical("/proc/self/fd", error);
    return !own.empty() && fs::weakly_canonical(path.parent_path(), error) == own;
}

/// Follows symbolic links by hand: fs::canonical refuses a dangling one, whose target can well be created, and goes
/// past the open descriptors to the files behind them.
fs::path follow_links(fs::path path) {
    constexpr int kernel_limit = 40;
    std::error_code error;
    for (int i = 0; i < kernel_limit && fs::is_symlink(path, error) && !is_open_descriptor(path); ++i)
        path = path.parent_path() / fs::read_symlink(path, error);
    return path;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
        if (byte < 0x20 || byte == 0x7f)
            out += escaped;
        else
            out += c;
    }
    return out + "'";
}

/// Buffers output to a descriptor. Unlike a std::filebuf it knows, and says at once, why a write failed.
class AtomicFile::Sink : public std::streambuf {
  public:
    Sink(int descriptor, const std::string& path) : descriptor_(descriptor), path_(path), buffer_(1 << 16) { reset(); }
    ~Sink() override {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    void close() {
        if (descriptor_ < 0) return;
        sync();
        if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
    }

  protected:
    int sync() override {
        for (const char* at = pbase(); at < pptr();) {
            const ssize_t written = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
            if (written < 0) fail(path_, errno);
            at += written;
        }
        reset();
        return 0;
    }

    int_type overflow(int_type c) override {
        sync();
        return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                               : sputc(traits_type::to_char_type(c));
    }

  private:
    void reset() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

    int descriptor_;
    const std::string& path_;
    std::vector<char> buffer_;
};

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), target_(follow_links(path_).string()), stream_(nullptr) {
    int descriptor = open_target();
    if (descriptor < 0) descriptor = open_temporary();
    sink_ = std::make_unique<Sink>(descriptor, path_);
    stream_.rdbuf(sink_.get());
    stream_.exceptions(std::ios::badbit);  // lets what the sink throws reach the writer
}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

/// A descriptor if the target is to be written straight to, -1 if a temporary shall replace it.
int AtomicFile::open_target() {
    int descriptor = -1;
    struct stat status {};
    if (path_.empty()) fail(path_, ENOENT);
    if (is_open_descriptor(target_)) {
        // Opening the name afresh would start over at the beginning of a file that stdout is in the middle of.
        descriptor = ::dup(std::atoi(fs::path(target_).filename().c_str()));
    } else if (::stat(target_.c_str(), &status) != 0) {
        if (errno == ENOENT) return -1;
    } else if (S_ISDIR(status.st_mode)) {
        fail(path_, EISDIR);
    } else if (S_ISREG(status.st_mode)) {
        // rename() asks leave of the folder only, and would replace a file that was made read-only on purpose.
        if (::access(target_.c_str(), W_OK) == 0) return -1;
    } else {
        descriptor = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (descriptor < 0) fail(path_, errno);
    return descriptor;
}

int AtomicFile::open_temporary() {
    static std::atomic<int> next{1};
    const std::string stem = target_ + ".tmp-" + std::to_string(::getpid()) + "-";
    std::string name;
    int descriptor = -1;
    do {
        name = stem + std::to_string(next++);
        descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor < 0) fail(path_, errno);
    temporary_ = name;
    return descriptor;
}

void AtomicFile::commit() {
    if (stream_.fail()) fail(path_, EIO);
    sink_->close();
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, errno);
    temporary_.clear();
}

}  // namespace tilescope::lab
