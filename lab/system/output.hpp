// Output streams that report a failed write at once, with its reason.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "core/machine/error.hpp"

namespace tilescope::lab {

/// The reader has closed the other end of the pipe. That is no fault of the program that writes.
struct ClosedPipe : RunError {
    using RunError::RunError;
};

/// Throws, for the system's `error` at writing `name`: ClosedPipe, Interrupted, or a RunError with a fix.
[[noreturn]] void cannot_write(const std::string& name, int error);

/// A stream to an open descriptor, or to a file that grows as it is written to. Where a write fails, the call that
/// notices it throws what cannot_write() throws.
class Output : public std::ostream {
  public:
    /// Takes the descriptor over; `name` is what messages call it.
    Output(int descriptor, std::string name);
    /// Truncates the file, or creates it.
    explicit Output(const std::string& path);
    /// Discards what is not written yet.
    ~Output() override;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Writes what is left. Nothing can be written afterwards.
    void close();

  private:
    class Buffer;
    std::unique_ptr<Buffer> buffer_;
};

/// While an object of this class lives, std::cout writes through an Output.
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
