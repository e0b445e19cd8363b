// The tiles of one SM as pictures: what its last operation read and wrote, and everything it has on chip.
#pragma once

#include "gui/detail/tile_image.hpp"
#include "show/run/run.hpp"

namespace tilescope::gui::detail {

/// Draws pictures of tiles, and their captions.
struct TilePainter {
    const Theme& theme;
    const Palette& palette;
    const show::Run& run;

    /// One tile in a frame, with a tooltip for every cell. `note` says which contents `values` are: "before".
    void paint(const RecordedTile& tile, TileData values, const ColourScale& scale, ImVec2 at, ImVec2 size,
               const std::string& note = {}, const Region& region = {}) const;
    void outline(ImVec2 at, ImVec2 size, ImU32 colour, float width) const;
    /// The name, then `more` if there is room; with `keep_more` the name is cut to make room for it.
    void caption(const std::string& name, Meaning meaning, const std::string& more, ImVec2 at, float width,
                 bool live = true, bool keep_more = false) const;
};

/// The last operation as an equation, in a box: operands and previous contents, an arrow, the tile it wrote.
void operation_view(const TilePainter& painter, const show::SmState& sm, ImVec2 at, ImVec2 size);
/// Every tile that the thread block ever has on chip, each at its own place; an empty frame while it is not on chip.
class Gallery {
  public:
    /// Arranges the pictures in rows. All have one height, the largest with which the rows fit into `room`.
    Gallery(const TilePainter& painter, const show::SmState& sm, ImVec2 room);
    float height() const { return height_; }
    void draw(const TilePainter& painter, const show::SmState& sm, ImVec2 at) const;

  private:
    /// A name that the thread block gives to tiles, and the tile that has it now.
    struct Slot {
        const RecordedTile* tile;
        const TileState* live = nullptr;
        ImVec2 at = {};   // of the caption, above the picture
        float width = 0;  // of the picture
    };
    static std::vector<Slot> slots_of(const show::Run& run, const show::SmState& sm);
    bool arrange(const Theme& theme, ImVec2 room, float picture);

    std::vector<Slot> slots_;
    float picture_ = 0, height_ = 0;  // height of one picture, of all together
};

/// A list of the tiles on chip, with names, shapes and bytes: for a recording without values.
void tile_list(const TilePainter& painter, const show::SmState& sm);

}  // namespace tilescope::gui::detail
