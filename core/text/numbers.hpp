// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope::text {

/// Three significant digits and a decimal unit: "34.6 MB", "812 B".
std::string bytes(double n);
/// On-chip sizes are binary: "88.0 KiB", "512 B".
std::string binary_bytes(std::int64_t n);
/// Three significant digits and a decimal suffix: "2.15 G", "512".
std::string count(double n);
/// All digits, in groups: "2,147,483,648".
std::string grouped(std::int64_t n);
/// Shortest form that reads well: "0.125", "1.9e-05".
std::string number(double x);

}  // namespace tilescope::text
