// Streams that say at once, and why, when what is written cannot be written.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "core/machine/error.hpp"

namespace tilescope::lab {

/// Nobody reads any more what is written: the other end of the pipe is closed. That is no fault of whoever writes.
struct ClosedPipe : RunError {
    using RunError::RunError;
};

/// Throws what the system's `error` means to whoever writes `name`: ClosedPipe, Interrupted, or a RunError with a fix.
[[noreturn]] void cannot_write(const std::string& name, int error);

/// A stream to an open descriptor, or to a file that grows as it is written to. A write that fails throws, out of the
/// call that noticed it, what cannot_write() does.
class Output : public std::ostream {
  public:
    /// Takes the descriptor over; `name` is what messages call it.
    Output(int descriptor, std::string name);
    /// Empties the file, or makes it.
    explicit Output(const std::string& path);
    /// Lets go of what is not written yet.
    ~Output() override;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Writes what is left. Nothing can be written afterwards.
    void close();

  private:
    class Buffer;
    std::unique_ptr<Buffer> buffer_;
};

/// While it lives, std::cout is such a stream.
class StandardOutput {
  public:
    StandardOutput();
    ~StandardOutput();
    StandardOutput(const StandardOutput&) = delete;
    StandardOutput& operator=(const StandardOutput&) = delete;

    void close() { output_->close(); }

  private:
    std::unique_ptr<Output> output_;
    std::streambuf* before_;
};

}  // namespace tilescope::lab
