#include "lab/system/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text/words.hpp"

namespace tilescope::lab {

/// The name of a temporary file, in a list that a signal handler may read at any moment. A name changes only while its
/// slot is `taken` and no file has the name. Slots are reused, and never freed.
struct AtomicFile::Temporary {
    enum class State { free, taken, exists };
    std::string name;
    std::atomic<State> state{State::taken};
    Temporary* next = nullptr;

    static std::atomic<Temporary*> newest;
    static Temporary* of(const std::string& target);
    static Temporary* free_place();

    /// Whether the file exists and the caller alone now decides about it.
    bool claim() {
        State expected = State::exists;
        return state.compare_exchange_strong(expected, State::taken);
    }
    void remove() {
        if (claim()) ::unlink(name.c_str());
    }
    void forget() {
        if (claim()) state = State::free;
    }
};
std::atomic<AtomicFile::Temporary*> AtomicFile::Temporary::newest{nullptr};

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) { cannot_write(text::shown(path), error); }

/// Whether `path` names an open file of this process, as the target of the link /dev/stdout does.
bool is_open_descriptor(const fs::path& path) {
    std::error_code error;
    if (!fs::is_symlink(path, error)) return false;
    const fs::path own = fs::canonical("/proc/self/fd", error);
    return !own.empty() && fs::weakly_canonical(path.parent_path(), error) == own;
}

/// Follows symbolic links by hand: fs::canonical refuses a dangling link, whose target can well be created, and follows
/// links such as /dev/stdout beyond the open descriptor.
fs::path follow_links(fs::path path) {
    constexpr int kernel_limit = 40;
    std::error_code error;
    for (int i = 0; i < kernel_limit && fs::is_symlink(path, error) && !is_open_descriptor(path); ++i)
        path = path.parent_path() / fs::read_symlink(path, error);
    return path;
}

/// Gives a file the permissions of the file that it will replace, and its owner as far as the system allows it.
void make_alike(int descriptor, const struct stat& old) {
    constexpr mode_t of_the_owner = S_ISUID | S_ISGID;
    const bool same_owner = ::fchown(descriptor, old.st_uid, old.st_gid) == 0;
    (void)::fchmod(descriptor, old.st_mode & (same_owner ? mode_t{07777} : mode_t{07777} & ~of_the_owner));
}

/// Makes room for `size` bytes before a byte is overwritten. Returns 0, or the error; the file is then as it was.
int make_room(int file, off_t size) {
    struct stat old {};
    if (::fstat(file, &old) != 0) return errno;
    const int error = size > old.st_size ? ::posix_fallocate(file, old.st_size, size - old.st_size) : 0;
    if (error != 0 && ::ftruncate(file, old.st_size) != 0) return errno;
    return error;
}

}  // namespace

/// The slot of a new temporary, listed before the file exists. The name is short, whatever the target's, and random.
AtomicFile::Temporary* AtomicFile::Temporary::of(const std::string& target) {
    static std::random_device random;
    char name[40];
    std::snprintf(name, sizeof name, ".tilescope-%08x%08x", static_cast<unsigned>(random()),
                  static_cast<unsigned>(random()));
    std::string path = (fs::path(target).parent_path() / name).string();
    Temporary* const place = free_place();
    place->name.swap(path);
    place->state = State::exists;
    return place;
}

AtomicFile::Temporary* AtomicFile::Temporary::free_place() {
    for (Temporary* t = newest; t; t = t->next)
        if (State expected = State::free; t->state.compare_exchange_strong(expected, State::taken)) return t;
    auto* added = new Temporary;
    added->next = newest;
    while (!newest.compare_exchange_weak(added->next, added)) {
    }
    return added;
}

void remove_temporaries() {
    for (AtomicFile::Temporary* t = AtomicFile::Temporary::newest; t; t = t->next) t->remove();
}

AtomicFile::AtomicFile(std::string path, std::string target) : path_(std::move(path)), target_(std::move(target)) {}

// A delegating constructor: where its body throws, the destructor runs all the same.
AtomicFile::AtomicFile(std::string path) : AtomicFile(path, follow_links(path).string()) {
    int descriptor = open_target();
    if (descriptor < 0) {
        open_temporary();
        descriptor = ::fcntl(content_, F_DUPFD_CLOEXEC, 0);
    }
    output_ = std::make_unique<Output>(descriptor, text::shown(path_));
}

AtomicFile::~AtomicFile() {
    if (content_ >= 0) ::close(content_);
    if (!temporary_) return;
    ::unlink(temporary_->name.c_str());
    temporary_->forget();
}

/// A descriptor if the target itself has to be written to, -1 if a temporary shall replace it.
int AtomicFile::open_target() {
    int descriptor = -1;
    struct stat status {};
    if (path_.empty()) fail(path_, ENOENT);
    if (is_open_descriptor(target_)) {
        // Opening the name again would start at the beginning of a file that stdout has written a part of.
        descriptor = ::fcntl(std::atoi(fs::path(target_).filename().c_str()), F_DUPFD_CLOEXEC, 0);
    } else if (::stat(target_.c_str(), &status) != 0) {
        if (errno == ENOENT) return -1;
    } else if (S_ISDIR(status.st_mode)) {
        fail(path_, EISDIR);
    } else if (S_ISREG(status.st_mode)) {
        // rename() needs permission for the folder only, and would replace a file that was made read-only on purpose.
        if (::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) == 0) return -1;
    } else {
        descriptor = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (descriptor < 0) fail(path_, errno);
    return descriptor;
}

void AtomicFile::open_temporary() {
    static const int at_exit = std::atexit(remove_temporaries);  // for a library that ends the process
    (void)at_exit;
    struct stat old {};
    const bool replaces = ::stat(target_.c_str(), &old) == 0;
    temporary_ = Temporary::of(target_);
    content_ = ::open(temporary_->name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
    if (content_ >= 0) {
        if (replaces) make_alike(content_, old);
        return;
    }
    const int error = errno;
    std::exchange(temporary_, nullptr)->forget();
    std::FILE* const anonymous = replaces ? std::tmpfile() : nullptr;
    if (!anonymous) fail(path_, error);
    content_ = ::fcntl(::fileno(anonymous), F_DUPFD_CLOEXEC, 0);
    std::fclose(anonymous);
}

void AtomicFile::commit() {
    if (output_->fail()) fail(path_, EIO);
    output_->close();
    if (content_ < 0) return;
    if (!rename_temporary()) copy_into_target();
    ::close(std::exchange(content_, -1));
}

/// Returns whether the temporary has replaced the target.
bool AtomicFile::rename_temporary() {
    if (!temporary_ || std::rename(temporary_->name.c_str(), target_.c_str()) != 0) return false;
    std::exchange(temporary_, nullptr)->forget();
    return true;
}

void AtomicFile::copy_into_target() {
    const int file = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0) fail(path_, errno);
    Output target(file, text::shown(path_));
    const off_t size = ::lseek(content_, 0, SEEK_END);
    if (const int error = make_room(file, size); error != 0) fail(path_, error);
    std::vector<char> piece(1 << 20);
    for (off_t at = 0; at < size;) {
        const ssize_t n = ::pread(content_, piece.data(), piece.size(), at);
        if (n <= 0) fail(path_, n < 0 ? errno : EIO);
        target.write(piece.data(), n);
        at += n;
    }
    target.flush();
    if (::ftruncate(file, size) != 0) fail(path_, errno);
    target.close();
}

}  // namespace tilescope::lab
