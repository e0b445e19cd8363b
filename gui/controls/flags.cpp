#include "gui/controls/flags.hpp"

#include <cmath>

#include "gui/draw/whole.hpp"

namespace tilescope::gui::controls {
using namespace lab;

Index typed(double x) { return whole(std::round(x), -(Index{1} << 41), Index{1} << 41); }

void index_row(Shown& shown, Screen& screen, NumberRow row, std::optional<Index> Options::*member) {
    row.can_reset = row.can_reset && (options(shown).*member).has_value();
    const NumberEdit edit = number_row(screen, row);
    if (edit.value) change(shown, [&](Options& o) { o.*member = typed(*edit.value); });
    if (edit.reset) change(shown, [&](Options& o) { (o.*member).reset(); });
}

void number_flag_row(Shown& shown, Screen& screen, NumberRow row, std::optional<double> Options::*member) {
    row.can_reset = (options(shown).*member).has_value();
    const NumberEdit edit = number_row(screen, row);
    if (edit.value) change(shown, [&](Options& o) { o.*member = *edit.value; });
    if (edit.reset) change(shown, [&](Options& o) { (o.*member).reset(); });
}

const Request* asked_request(const Shown& shown) { return shown.session.busy() ? nullptr : shown.session.request(); }

Problem asked(const Shown& shown) {
    if (const Request* r = asked_request(shown)) return r->problem;
    return sizes_from(options(shown));
}

}  // namespace tilescope::gui::controls
