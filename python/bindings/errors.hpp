// Exceptions that pass between C++ and Python, in both directions, also several times.
#pragma once

#include <stdexcept>
#include <utility>

#include "core/machine/out_of_chip_memory.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// A Python program did what a tile program may not or cannot do. The text is one line, with the program's file and
/// line.
struct ProgramError : RunError {
    using RunError::RunError;
};

/// An OutOfChipMemory whose text tells the user what to do.
struct DoesNotFit : OutOfChipMemory {
    DoesNotFit(const OutOfChipMemory& error, std::string text) : OutOfChipMemory(error), text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

/// Throws the C++ exception that `error` was made from. Without one, throws `error` itself with its traceback, or a
/// ProgramError or RunError that tells it in one line.
[[noreturn]] void throw_native(py::error_already_set& error);

/// The last Python exception that throw_native() turned back into its C++ exception: the cause of the run's error.
py::object& last_raised();

/// Whether a program embeds this interpreter, without Python around it. Errors are then told in one line.
bool& embedded();

/// The error in one line, for a terminal: "my_kernel.py:12: ZeroDivisionError: division by zero".
std::string in_a_line(py::error_already_set& error);

}  // namespace tilescope::python
