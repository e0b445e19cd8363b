// What is said below the wall: the bytes that cross the SMs' boundary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/wall.hpp"

namespace tilescope::show {

/// SM traffic of one tensor so far, of what is recorded.
struct WallBytes {
    std::string name;
    Meaning meaning;
    Traffic so_far;
};
std::vector<WallBytes> wall_bytes(const Run& run);
/// What another algorithm's SM traffic would be for what is recorded; nothing where only a part of a head is.
std::optional<Bytes> other_bytes(const Run& run, const lab::Report& other);

/// Of the bytes in that order, those of scores that go to HBM and come back; without `to` there are none.
struct StoredBytes {
    Bytes from = 0, to = 0;
    std::string text;  ///< "S: 524 kB"; "S and P: 2.10 MB out and back" once something of each was read
};
StoredBytes stored_bytes(const Run& run);
/// Whether it has any, before or after.
bool stores_scores(const Run& run);

/// "517 kB of 723 kB SM traffic", or "… of 4 heads" where these are not all; "3.74 MB standard"; "K: 131 kB".
std::string traffic_text(const Run& run, Bytes so_far, Bytes whole);
std::string traffic_of_other_text(Bytes bytes, const std::string& algorithm);
std::string traffic_part_text(const std::string& tensor, Bytes bytes);
/// "34.5 GB in the whole run: 182 times that".
std::string whole_run_text(const Run& run);

}  // namespace tilescope::show
