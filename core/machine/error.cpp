#include "core/machine/error.hpp"

#include "core/text/message.hpp"

namespace tilescope {
using text::message;

std::string BadValue::worded(const std::string& name, const std::string& value, const std::string& allowed,
                             const std::string& fix) {
    return fix.empty() ? message("error.bad_value", name, value, allowed)
                       : message("error.bad_value_and_fix", name, value, allowed, fix);
}

Interrupted::Interrupted() : std::runtime_error(message("error.interrupted")) {}

}  // namespace tilescope
