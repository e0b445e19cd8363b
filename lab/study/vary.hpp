// Ranges of values: what `--vary KEY=...` accepts.
#pragma once

#include <string>
#include <vector>

namespace tilescope::lab {

/// One varied key and its values as text, in order.
struct SweepAxis {
    std::string key;
    std::vector<std::string> values;
};

/// Parses "key=a:b:xK" (a, aK, aK^2, ... up to b), "key=a:b:+K" (a, a+K, ... up to b) or "key=v1,v2,...". At most
/// 100,000 values. Throws UsageError.
SweepAxis parse_axis(const std::string& text);

}  // namespace tilescope::lab
