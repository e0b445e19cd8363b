// The ways in which a request can fail. A message is one line, and names the value and a fix.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tilescope {

/// The request itself is wrong (a flag, a shape, a file's content): exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A field of a request has a value that is not allowed. Libraries name fields as their structs do ("kv_heads"); front
/// ends name what their user wrote: a flag.
struct BadValue : UsageError {
    BadValue(std::string field_, std::string value_, std::string allowed_, std::string fix_ = "")
        : UsageError(worded(field_, value_, allowed_, fix_)),
          field(std::move(field_)),
          value(std::move(value_)),
          allowed(std::move(allowed_)),
          fix(std::move(fix_)) {}

    /// "NAME VALUE: ALLOWED; try NAME FIX".
    std::string worded(const std::string& name) const { return worded(name, value, allowed, fix); }

    std::string field, value;
    std::string allowed;  ///< what must hold
    std::string fix;      ///< a value to try; may be empty

  private:
    static std::string worded(const std::string& name, const std::string& value, const std::string& allowed,
                              const std::string& fix);
};

/// The request is fine, carrying it out failed (a tiling that does not fit, an unwritable file): exit code 1.
struct RunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The user asked to stop (Ctrl-C): exit code 130.
struct Interrupted : std::runtime_error {
    Interrupted();
};

}  // namespace tilescope
