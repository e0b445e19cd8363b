#include "gui/machine/tensors.hpp"

#include <cmath>

#include "show/run/heads.hpp"

namespace tilescope::gui::machine {
using namespace lab;
namespace {

/// The head that the SM in focus works on, or worked on last.
Index head_shown(const MachineFigure& f) {
    const Run& run = f.run;
    const Placement* at = nullptr;
    for (const SmState& s : run.moment().sms)
        if (s.sm == f.focus) at = s.block;
    if (!at)
        for (const Placement& p : run.schedule().placements())
            if (p.sm == f.focus && p.first_tick < run.tick()) at = &p;
    return at ? run.head_of(*at) : 0;
}

std::vector<DrawnTensor> tensors_of(const MachineFigure& f) {
    std::vector<DrawnTensor> all;
    const Index head = head_shown(f);
    TensorId id = 0;
    for (const RecordedTensor& t : f.run.trace().tensors()) {
        const Index slice = slice_of(f.run.recorded(), t, head);
        const Bytes one = t.rows * t.cols * size_of(t.dtype);
        DrawnTensor d{.tensor = &t, .id = id++, .slice = slice, .slices = t.slices, .bytes = t.slices * one};
        for (const TensorReport& r : f.run.counted().tensors)
            if (r.name == t.name) d.bytes = r.bytes;
        d.slices = d.bytes / std::max<Bytes>(1, one);
        d.depth = d.slices > 1 ? f.px(6) : 0;
        all.push_back(d);
    }
    return all;
}

/// Leaves room for "↓×128" beside each tensor, where there is enough for all.
void leave_room_beside(const MachineFigure& f, std::vector<DrawnTensor>& all, float width) {
    const float room = Canvas::size(f.theme().small_text, "↓×128 ").x;
    for (DrawnTensor& d : all) d.beside = width / static_cast<float>(all.size()) > 2 * room ? room : 0;
}

/// The tensors in one or two rows, and the pixels per element that this leaves.
class Arrangement {
  public:
    /// Tensor `second` begins the second row; if there is no such tensor, there is one row.
    Arrangement(const MachineFigure& f, const std::vector<DrawnTensor>& all, const Box& area, std::size_t second)
        : f_(f), area_(area), second_(second), rows_(second < all.size() ? 2 : 1) {
        const float each = area.h() / static_cast<float>(rows_);
        lines_ = each > f.px(190) ? 3 : each > f.px(100) ? 2 : 1;
        const Theme& t = f.theme();
        label_height_ = Canvas::height(t.title) + f.px(6) +
                        static_cast<float>(lines_ - 1) * (Canvas::height(t.small_text) + f.px(1));
        // No label takes more than its share of the row; its words are shortened.
        const float share = area.w() / static_cast<float>(std::max(second, all.size() - second)) - gap();
        for (const DrawnTensor& d : all)
            labels_.push_back(std::min(share, Canvas::size(t.title, tensor_title(d.shown())).x + f.px(6)));
        float high = f.px(26);
        for (int i = 0; i < 24; ++i) {
            const float middle = (scale_ + high) / 2;
            (fits(all, middle) ? scale_ : high) = middle;
        }
    }

    float scale() const { return scale_; }

    void place(std::vector<DrawnTensor>& all) const {
        float y = area_.y0;
        for (int row = 0; row < rows_; ++row) {
            const auto [first, last] = range(all, row);
            place_row(all, first, last, y);
            y += height(all, row, scale_);
        }
    }

  private:
    float gap() const { return f_.px(6); }
    float thinnest() const { return f_.px(8); }

    std::pair<std::size_t, std::size_t> range(const std::vector<DrawnTensor>& all, int row) const {
        if (rows_ == 1) return {0, all.size()};
        return row == 0 ? std::pair<std::size_t, std::size_t>(0, second_) : std::pair(second_, all.size());
    }
    float slot(const std::vector<DrawnTensor>& all, std::size_t i, float scale) const {
        const float w = std::max(thinnest(), static_cast<float>(all[i].across()) * scale);
        // A tensor that is wide enough has its counts inside.
        const float counts = std::clamp(2 * all[i].beside - w, 0.f, all[i].beside);
        return std::max(labels_[i], w + all[i].depth + counts);
    }
    float width(const std::vector<DrawnTensor>& all, int row, float scale) const {
        const auto [first, last] = range(all, row);
        float sum = -gap();
        for (std::size_t i = first; i < last; ++i) sum += slot(all, i, scale) + gap();
        return sum;
    }
    float tallest(const std::vector<DrawnTensor>& all, std::size_t first, std::size_t last, float scale) const {
        Index rows = 1;
        for (std::size_t i = first; i < last; ++i) rows = std::max(rows, all[i].down());
        return std::max(thinnest(), static_cast<float>(rows) * scale);
    }
    float height(const std::vector<DrawnTensor>& all, int row, float scale) const {
        const auto [first, last] = range(all, row);
        return f_.px(10) + tallest(all, first, last, scale) + label_height_;
    }
    bool fits(const std::vector<DrawnTensor>& all, float scale) const {
        float high = 0, wide = 0;
        for (int row = 0; row < rows_; ++row) {
            high += height(all, row, scale);
            wide = std::max(wide, width(all, row, scale));
        }
        return high <= area_.h() && wide <= area_.w();
    }
    void place_row(std::vector<DrawnTensor>& all, std::size_t first, std::size_t last, float y) const {
        const auto n = static_cast<float>(last - first);
        const float used = width(all, first == 0 ? 0 : 1, scale_);
        const float spare = std::clamp((area_.w() - used) / n, 0.f, f_.px(110));
        const float bottom = y + f_.px(8) + tallest(all, first, last, scale_) + f_.px(4);
        float x = area_.x0 + std::max(0.f, (area_.w() - used - spare * n) / 2);
        for (std::size_t i = first; i < last; ++i) {
            DrawnTensor& d = all[i];
            const float w = static_cast<float>(d.across()) * scale_;
            const float h = static_cast<float>(d.down()) * scale_;
            const float left = std::floor(x), top = std::floor(y + f_.px(8));
            d.to_scale = w >= thinnest() && h >= thinnest();
            d.front = {left, top, left + std::max(thinnest(), std::floor(w)),
                       top + std::max(thinnest(), std::floor(h))};
            const float end = x + slot(all, i, scale_) + spare;
            d.label = {x, bottom, end, bottom + label_height_};
            d.label_lines = lines_;
            x = end + gap();
        }
    }

    const MachineFigure& f_;
    Box area_;
    std::size_t second_;
    int rows_, lines_;
    float label_height_, scale_ = 0;
    std::vector<float> labels_;  // widths
};

}  // namespace

namespace {

/// Arranges the tensors in one row, or in two where that makes them much larger. Returns pixels per element.
float arrange(const MachineFigure& f, std::vector<DrawnTensor>& all, const Box& area) {
    constexpr float worth_a_second_row = 1.2f;
    const std::size_t n = all.size();
    std::size_t best = n;
    float scale = worth_a_second_row * Arrangement(f, all, area, n).scale();
    // A second row begins with the scratch tensors, unless another first tensor makes all tensors larger.
    const auto scratch =
        std::find_if(all.begin(), all.end(), [](const DrawnTensor& d) { return d.tensor->role == Role::scratch; });
    std::vector<std::size_t> places = {static_cast<std::size_t>(scratch - all.begin())};
    for (std::size_t second = 1; second < n; ++second) places.push_back(second);
    for (const std::size_t second : places) {
        if (second == 0 || second >= n) continue;
        const Arrangement two_rows(f, all, area, second);
        if (two_rows.scale() > 1.01f * scale) scale = two_rows.scale(), best = second;
    }
    const Arrangement chosen(f, all, area, best);
    chosen.place(all);
    return chosen.scale();
}

}  // namespace

std::vector<DrawnTensor> arranged_tensors(const MachineFigure& f, const Box& area) {
    constexpr float worth_turning = 1.2f;
    std::vector<DrawnTensor> all = tensors_of(f);
    if (all.empty()) return all;
    leave_room_beside(f, all, area.w());
    const float scale = arrange(f, all, area);
    if (!f.theme().in_a_hall()) return all;
    // In a hall height is scarce: tensors are turned on their side where this makes them larger.
    std::vector<DrawnTensor> lying = all;
    for (DrawnTensor& d : lying) d.lies = true, d.beside = 0;
    return arrange(f, lying, area) > worth_turning * scale ? lying : all;
}

}  // namespace tilescope::gui::machine
