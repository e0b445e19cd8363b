// The texts below the wall: the bytes that cross the SMs' boundary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/stage/wall.hpp"

namespace tilescope::show {

/// SM traffic of one tensor so far, of what is recorded.
struct WallBytes {
    std::string name;
    Meaning meaning;
    Traffic so_far;
};
std::vector<WallBytes> wall_bytes(const Run& run);
/// Another algorithm's SM traffic for the heads that are recorded; nullopt where only a part of a head is recorded.
std::optional<Bytes> other_bytes(const Run& run, const lab::Report& other);

/// The scores' bytes that go to HBM and come back. Where the bytes of wall_bytes() are laid end to end, these lie
/// between `from` and `to`; `to` is 0 where there are none.
struct StoredBytes {
    Bytes from = 0, to = 0;
    std::string text;  ///< "S: 524 kB"; "S and P: 2.10 MB out and back" once something of each was read
};
StoredBytes stored_bytes(const Run& run);
/// Whether the run has any of these bytes, before or after this tick.
bool stores_scores(const Run& run);

/// "517 kB of 723 kB SM traffic", or "517 kB of 723 kB, of 4 heads" where there are more; "3.74 MB standard"; "K: 131
/// kB".
std::string traffic_text(const Run& run, Bytes so_far, Bytes whole);
std::string traffic_of_other_text(Bytes bytes, const std::string& algorithm);
std::string traffic_part_text(const std::string& tensor, Bytes bytes);
/// "34.5 GB in the whole run: 182 times that".
std::string whole_run_text(const Run& run);

}  // namespace tilescope::show
