// Output files that appear complete or not at all.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace tilescope::lab {

/// `text` between single quotes, its control characters escaped, so that a message naming it stays one line.
std::string in_quotes(std::string_view text);

/// A file being written. Its content goes to a temporary beside `path`, which takes the place of `path` at commit();
/// without a commit, as when an exception passes, the temporary is removed and `path` stays as it was.
/// A `path` that has no content to protect (a device, a pipe, /dev/stdout) is written straight to.
/// Every failure is a RunError: at construction if `path` cannot be written, later as soon as a write fails.
class AtomicFile {
  public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    std::ostream& stream() { return stream_; }
    /// Hands over what was written; nothing can be written afterwards.
    void commit();

  private:
    class Sink;

    int open_target();
    int open_temporary();

    std::string path_;       ///< as the caller wrote it, for messages
    std::string target_;     ///< where it leads, symbolic links followed
    std::string temporary_;  ///< to be renamed or removed; empty when there is none
    std::unique_ptr<Sink> sink_;
    std::ostream stream_;
};

}  // namespace tilescope::lab
