#include "gui/controls/flags.hpp"

#include <cmath>

#include "gui/draw/whole.hpp"

namespace tilescope::gui::controls {
using namespace lab;

Index typed(double x) { return whole(std::round(x), -(Index{1} << 41), Index{1} << 41); }

void index_row(App& app, NumberRow row, std::optional<Index> Options::*member) {
    row.can_reset = row.can_reset && (options(app).*member).has_value();
    const NumberEdit edit = number_row(app, row);
    if (edit.value) change(app, [&](Options& o) { o.*member = typed(*edit.value); });
    if (edit.reset) change(app, [&](Options& o) { (o.*member).reset(); });
}

void number_flag_row(App& app, NumberRow row, std::optional<double> Options::*member) {
    row.can_reset = (options(app).*member).has_value();
    const NumberEdit edit = number_row(app, row);
    if (edit.value) change(app, [&](Options& o) { o.*member = *edit.value; });
    if (edit.reset) change(app, [&](Options& o) { (o.*member).reset(); });
}

const Request* asked_request(const App& app) { return app.session.busy() ? nullptr : app.session.request(); }

Problem asked(const App& app) {
    if (const Request* r = asked_request(app)) return r->problem;
    return sizes_from(options(app));
}

}  // namespace tilescope::gui::controls
