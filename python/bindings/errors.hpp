// Exceptions on their way between C++ and Python, in both directions and through each other's frames.
#pragma once

#include <stdexcept>
#include <utility>

#include "core/machine/out_of_chip_memory.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// A Python program did what a tile program may not or cannot do: in one line, with its file and line.
struct ProgramError : RunError {
    using RunError::RunError;
};

/// An OutOfChipMemory told to the user, with a way out.
struct DoesNotFit : OutOfChipMemory {
    DoesNotFit(const OutOfChipMemory& error, std::string text) : OutOfChipMemory(error), text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

/// Throws the C++ exception that `error` was before it became Python's; else `error` itself, with its traceback.
[[noreturn]] void throw_native(py::error_already_set& error);

/// The exception that a Python program raised last and C++ then threw: the cause of what the run ends with.
py::object& last_raised();

/// Whether a program embeds this interpreter, with no Python around it: then failures are told in one line.
bool& embedded();

/// "my_kernel.py:12: ZeroDivisionError: division by zero": in a line, for a terminal.
std::string in_a_line(py::error_already_set& error);

}  // namespace tilescope::python
