#include "gui/machine/crossing.hpp"

#include <algorithm>
#include <cmath>

namespace tilescope::gui::machine {
namespace {

using Place = Held::Place;

/// The slots of the tiles in rows and columns around the scores, at `scale` pixels per element.
class Places {
  public:
    Places(const MachineFigure& f, const std::vector<Held>& all, float gap, float scale)
        : f_(f), all_(all), gap_(gap), scale_(scale) {
        middle_ = std::max({along(Place::middle), widest(Place::above), widest(Place::below)});
        row_ = std::max({tallest(Place::left), tallest(Place::middle), tallest(Place::between), tallest(Place::right)});
    }

    float width() const { return along(Place::left) + middle_ + along(Place::between) + along(Place::right); }
    float height() const { return stacked(Place::above) + row_ + name() + stacked(Place::below); }

    std::vector<DrawnHeld> at(const Box& area) const {
        std::vector<DrawnHeld> drawn;
        const float left = area.centre().x - width() / 2, top = area.centre().y - height() / 2;
        const float row = top + stacked(Place::above) + name(), column = left + along(Place::left);
        // Where the next tile of each place goes: outwards from the scores.
        float q = column, k = row - name(), s = column, v = row + row_ + gap(), m = column + middle_;
        float o = m + along(Place::between);
        for (const Held& h : all_) {
            const ImVec2 size = size_of(h);
            const float slot = slot_of(h);
            ImVec2 corner;
            switch (h.place) {
                case Place::left:
                    q -= slot + gap(), corner = {q, row};
                    break;
                case Place::above:
                    k -= size.y + gap(), corner = {column, k + gap()};
                    break;
                case Place::middle:
                    corner = {s, row}, s += slot + gap();
                    break;
                case Place::between:
                    corner = {m + (slot - size.x) / 2, row}, m += slot + gap() / 2;
                    break;
                case Place::right:
                    corner = {o, row}, o += slot + gap();
                    break;
                case Place::below:
                    corner = {column, v}, v += size.y + gap();
                    break;
            }
            const Box box = {std::round(corner.x), std::round(corner.y), std::round(corner.x + size.x),
                             std::round(corner.y + size.y)};
            drawn.push_back({&h, box, part_of(h, box)});
        }
        return drawn;
    }

  private:
    float gap() const { return gap_; }
    float name() const { return Canvas::height(f_.theme().small_text) + f_.px(4); }  // of a name above a narrow tile
    ImVec2 size_of(const Held& h) const {
        const float least = f_.px(9);
        return {std::max(least, static_cast<float>(h.cols) * scale_),
                std::max(least, static_cast<float>(h.rows) * scale_)};
    }
    /// The width of a tile's slot, with room for the name if the name has to stand above the tile.
    float slot_of(const Held& h) const {
        const float w = size_of(h).x;
        return h.place == Place::between ? std::max(w, Canvas::width(f_.theme().small_text, h.name)) : w;
    }
    /// The part of the slot that the tile fills now: a ragged last tile is smaller than the others.
    Box part_of(const Held& h, const Box& slot) const {
        if (!h.now) return slot;
        const RecordedTile& t = f_.run.trace().tiles()[h.now->tile];
        const auto rows = static_cast<float>(h.on_its_side() ? t.cols : t.rows),
                   cols = static_cast<float>(h.on_its_side() ? t.rows : t.cols);
        return {slot.x0, slot.y0, slot.x0 + slot.w() * cols / static_cast<float>(h.cols),
                slot.y0 + slot.h() * rows / static_cast<float>(h.rows)};
    }
    template <class F>
    float sum(Place place, F&& of) const {
        float all = 0;
        for (const Held& h : all_)
            if (h.place == place) all += of(h);
        return all;
    }
    float along(Place p) const {
        return sum(p, [&](const Held& h) { return slot_of(h) + (p == Place::between ? gap() / 2 : gap()); });
    }
    float stacked(Place p) const {
        return sum(p, [&](const Held& h) { return size_of(h).y + gap(); });
    }
    float widest(Place p) const {
        float most = 0;
        for (const Held& h : all_)
            if (h.place == p) most = std::max(most, size_of(h).x + gap());
        return most;
    }
    float tallest(Place p) const {
        float most = 0;
        for (const Held& h : all_)
            if (h.place == p) most = std::max(most, size_of(h).y);
        return most;
    }

    const MachineFigure& f_;
    const std::vector<Held>& all_;
    float gap_, scale_, middle_, row_;
};

}  // namespace

float gap_in(const MachineFigure& f, const Box& area) {
    return std::clamp(std::min(area.h() / 12, area.w() / 20), f.px(6), f.px(15));
}

float scale_for(const MachineFigure& f, const std::vector<Held>& all, const Box& area) {
    float scale = 0, high = f.px(40);
    for (int i = 0; i < 24; ++i) {
        const float middle = (scale + high) / 2;
        const Places a(f, all, gap_in(f, area), middle);
        (a.width() <= area.w() && a.height() <= area.h() ? scale : high) = middle;
    }
    return scale;
}

std::vector<DrawnHeld> arranged(const MachineFigure& f, const std::vector<Held>& all, const Box& area) {
    return Places(f, all, gap_in(f, area), scale_for(f, all, area)).at(area);
}

std::vector<ImVec2> way_to(const MachineFigure& f, const std::vector<DrawnHeld>& all, const DrawnHeld& tile,
                           const Box& area) {
    const Box& b = tile.slot;
    const auto below = [&](const DrawnHeld& d) {
        return d.slot.y0 >= b.y1 && d.slot.x0 < b.centre().x && b.centre().x < d.slot.x1;
    };
    if (std::none_of(all.begin(), all.end(), below)) return {{b.centre().x, area.y1}, {b.centre().x, b.y1}};
    // Upwards, left of all tiles that lie below this one.
    float x = b.x0;
    for (const DrawnHeld& d : all)
        if (d.slot.y0 >= b.y1) x = std::min(x, d.slot.x0);
    x -= f.px(8);
    return {{x, area.y1}, {x, b.centre().y}, {b.x0, b.centre().y}};
}

}  // namespace tilescope::gui::machine
