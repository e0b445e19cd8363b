// Output files that appear complete or not at all.
#pragma once

#include <memory>
#include <string>

#include "lab/output.hpp"

namespace tilescope::lab {

/// A file being written. Its content goes to a temporary, which takes the place of `path` at commit(); without a
/// commit, as when an exception passes, the temporary is removed and `path` stays as it was. Every failure is a
/// RunError: at construction if `path` cannot be written, later as soon as a write fails.
///
/// A file that is replaced keeps its permissions, and its owner where that is allowed. Symbolic links to it still lead
/// to it; a file that has other names (hard links) keeps its old content under those.
///
/// The temporary lies beside `path`. Where it cannot (a file that may be written to, in a folder that may not), or
/// cannot be renamed, the complete content is copied into `path` after room for it was made: then a loss of power, or
/// a second Ctrl-C, while it is copied does cut it off.
///
/// A `path` that has no content to protect (a device, a pipe, /dev/stdout) is written straight to.
class AtomicFile {
  public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    std::ostream& stream() { return *output_; }
    /// Hands over what was written; nothing can be written afterwards.
    void commit();

  private:
    struct Temporary;

    AtomicFile(std::string path, std::string target);
    int open_target();
    void open_temporary();
    bool rename_temporary();
    void copy_into_target();

    std::string path_;                ///< as the caller wrote it, for messages
    std::string target_;              ///< where it leads, symbolic links followed
    Temporary* temporary_ = nullptr;  ///< its name, where it has one
    int content_ = -1;                ///< what was written, where it is not in its place yet
    std::unique_ptr<Output> output_;

    friend void remove_temporaries();
};

/// Removes the temporaries of all files that are being written, which is their end: for a process that ends without
/// unwinding its stack. May be called by a signal's handler.
void remove_temporaries();

}  // namespace tilescope::lab
