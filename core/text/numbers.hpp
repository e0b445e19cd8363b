// Numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tilescope::text {

/// Three significant digits and a decimal unit: "34.6 MB", "812 B".
std::string bytes(double n);
std::string bytes(std::int64_t n);
/// On-chip sizes are binary: "88.0 KiB", "512 B".
std::string binary_bytes(std::int64_t n);
/// Three significant digits and a decimal suffix: "2.15 G", "512".
std::string count(double n);
/// All digits, in groups: "2,147,483,648".
std::string grouped(std::int64_t n);
/// Microseconds as people read them: "13.5 µs", "4,071 µs", "123.4 ms", "12.3 s".
std::string microseconds(double us);
/// "7.99 µs": three significant digits and a unit.
std::string duration(double seconds);
/// A share in percent: "53%".
std::string percent(double share);
/// Shortest form that reads well: "0.125", "1.9e-05", "1920".
std::string number(double x);
/// Enough digits to read the same number back: "0.1".
std::string exact(double x);
/// Rounded to a tenth: "2.5", "1024".
std::string tenths(double x);

/// The finite number that all of `text` spells, in any locale: "0.5", "-2", "1e-310". Not " 1", "+1", "0x8", "inf".
std::optional<double> to_number(std::string_view text);
/// Sets `value` to the whole number that all of `text` spells; a k, M or G at its end stands for 1024, 1024^2, 1024^3.
/// Otherwise returns what is wrong, and leaves `value` as it is.
std::errc to_whole(std::string_view text, std::int64_t& value);
std::errc to_whole(std::string_view text, std::uint64_t& value);

}  // namespace tilescope::text
