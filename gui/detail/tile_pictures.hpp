// The tiles of one SM as pictures: what its last operation read and wrote, and everything it has on chip.
#pragma once

#include "gui/detail/tile_image.hpp"
#include "show/run.hpp"

namespace tilescope::gui::detail {

/// What a picture of a tile is drawn with and may be asked.
struct TilePainter {
    const Theme& theme;
    const Palette& palette;
    const show::Run& run;

    /// One tile in a frame, with a tooltip for every cell. `note` says which contents they are: "before".
    void paint(const RecordedTile& tile, TileData values, const ColourScale& scale, ImVec2 at, ImVec2 size,
               const std::string& note = {}, const Region& region = {}) const;
    void outline(ImVec2 at, ImVec2 size, ImU32 colour, float width) const;
    /// Name, then `more` if there is room, or in any case: then the name is cut.
    void caption(const std::string& name, Meaning meaning, const std::string& more, ImVec2 at, float width,
                 bool live = true, bool keep_more = false) const;
};

/// The last operation as an equation, in a box: operands and previous contents, an arrow, the tile it wrote.
void operation_view(const TilePainter& painter, const show::SmState& sm, ImVec2 at, ImVec2 size);
/// Every tile that the thread block ever has on chip, each in a place of its own; an empty frame where it is not there.
class Gallery {
  public:
    /// Rows from left to right, all pictures as high as fits into `room`.
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
    float picture_ = 0, height_ = 0;  // of one, of all
};

/// Names, shapes and bytes alone, of a recording without values.
void tile_list(const TilePainter& painter, const show::SmState& sm);

}  // namespace tilescope::gui::detail
