// Lanes drawn in letters, of the tile program itself.
#include "show/lane_chart.hpp"

#include "tests/support/laned_attention.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

std::string drawn(const LanedAttention& a, Index step, double cycles, int columns) {
    const PlayedAttention played(a, {}, true);
    for (const LanePhase& p : played.play.phases)
        if (p.what == std::string("S") && p.step == step && p.kind == Act::Kind::product)
            return '\n' + show::lane_chart(played.lanes.programs(), played.play, p.from, p.from + cycles, columns);
    return "";
}

}  // namespace

TEST_CASE("lanes are drawn over time", "[lanes]") {
    CHECK(drawn({.groups = 1, .steps = 14}, 7, 1904, 76) == R"(
producer  warps         |----------------------------------------------------------------------------|
producer  bus           |VVVVVVVVVVVVVVVVVVVVKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK          VV|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSSS                                 OOOOOOOOOOOOOOOOOOOOO  |
WG1       warps         |--------------------   uuuuusseeeeeeeeeeeeeeeeeeeeecc---------------------  |
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
    CHECK(drawn({.turns = true, .steps = 14}, 7, 2471, 90) == R"(
producer  warps         |------------------------------------------------------------------------------------------|
producer  bus           |KKKKKKKKKKKK                             VVVVVVVVVVVVVVVVVVVVVKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSS                                                  OOOOOOOOOOOOOOOOOOO  |
WG1       warps         |-------------------  uuuuuuuuusseeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeecc -------------------  |
WG2       tensor cores  |                      OOOOOOOOOOOOOOOOOOO  SSSSSSSSSSSSSSSSSSS                            |
WG2       warps         |eeeeeeeeeeeeeeeeeeecc -------------------  -------------------  uuuuusseeeeeeeeeeeeeeeeeee|
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
    CHECK(drawn({.overlap = true, .turns = true, .steps = 14}, 7, 2425, 90) == R"(
producer  warps         |------------------------------------------------------------------------------------------|
producer  bus           |VVVVVVVVVVVVVVVVVVVVVVVVVVVVVV                             KKKKKKKKKKKKKKKKKKKKVVVVVVVVVVV|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOOOO                                                  |
WG1       warps         |-------------------  uuuuuuuuuuuuuuuussseeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee  ccc |
WG2       tensor cores  |                                        SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOO            |
WG2       warps         |eeeeeeeeeeeeeeeeeeeeeeeeeee  cccccccc ---------------------  uuuuuuuuuuuuuuuuusseeeeeeeeee|
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
}
