// Libraries name fields; who typed flags is told of flags.
#pragma once

#include <algorithm>

#include "core/machine/error.hpp"

namespace tilescope::lab {

/// f(), but a field whose value is refused is called by its flag: --kv-heads for kv_heads. Throws UsageError for it.
template <class F>
auto in_flags(F&& f) {
    try {
        return f();
    } catch (const BadValue& e) {
        std::string flag = "--" + e.field;
        std::replace(flag.begin(), flag.end(), '_', '-');
        throw UsageError(e.worded(flag));
    }
}

}  // namespace tilescope::lab
