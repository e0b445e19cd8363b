// Output files that appear complete or not at all.
#pragma once

#include <memory>
#include <string>

#include "lab/system/output.hpp"

namespace tilescope::lab {

/// A file being written. Its content goes to a temporary file, which takes the place of `path` at commit(). Without a
/// commit, as when an exception passes, the temporary is removed and `path` stays as it was. Every failure is a
/// RunError: at construction if `path` cannot be written, later as soon as a write fails.
///
/// A file that is replaced keeps its permissions, and its owner where the system allows it. Symbolic links to `path`
/// lead to the new file; hard links, other names of the old file, keep the old content.
///
/// The temporary lies beside `path`. Where that is impossible (the file is writable, its folder is not), or the
/// temporary cannot be renamed, the complete content is copied into `path`, after space for it was reserved. Only a
/// loss of power or a second Ctrl-C during this copy leaves less than the new content, and the former content is lost
/// then.
///
/// A `path` that has no content to protect (a device, a pipe, /dev/stdout) is written straight to.
class AtomicFile {
  public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    std::ostream& stream() { return *output_; }
    /// Puts what was written in the place of `path`. Nothing can be written afterwards.
    void commit();

  private:
    struct Temporary;

    AtomicFile(std::string path, std::string target);
    int open_target();
    void open_temporary();
    bool rename_temporary();
    void copy_into_target();

    std::string path_;                ///< as the caller wrote it, for messages
    std::string target_;              ///< the file that `path_` leads to, symbolic links followed
    Temporary* temporary_ = nullptr;  ///< the name of the temporary file; nullptr where there is no name
    int content_ = -1;                ///< descriptor of the temporary file; -1 where there is none, or after commit()
    std::unique_ptr<Output> output_;

    friend void remove_temporaries();
};

/// Removes the temporaries of all files that are being written, whose new content is lost: for a process that ends
/// without unwinding its stack. May be called in a signal handler.
void remove_temporaries();

}  // namespace tilescope::lab
