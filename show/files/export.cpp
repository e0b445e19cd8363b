#include "show/files/export.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/figure/picture.hpp"
#include "lab/flags/ending.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/child.hpp"
#include "show/stage/figures.hpp"
#include "show/state/state.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// "br=16:512:+16", or the sizes one by one where the last step is a shorter one.
std::string range_text(const std::string& key, const std::vector<Index>& sizes) {
    const Index first = sizes.front(), last = sizes.back(), step = sizes.size() > 1 ? sizes[1] - first : 0;
    const auto word = [](Index n) { return std::to_string(n); };
    if (step > 0 && first + step * static_cast<Index>(sizes.size() - 1) == last)
        return key + "=" + word(first) + ":" + word(last) + ":+" + word(step);
    std::vector<std::string> words;
    for (const Index n : sizes) words.push_back(word(n));
    return key + "=" + text::join(words, ",");
}

/// The points of the latest runs, as the window shows them.
std::vector<std::vector<Series>> marks_of(const Explorer& explorer, Stage stage, std::size_t panels) {
    std::vector<std::vector<Series>> marks(panels);
    for (std::size_t k = 0; k < panels; ++k)
        for (const Explorer::Trail& trail : explorer.trails(stage, k)) {
            if (trail.points.empty()) continue;
            Series way{"", Look::border, -1, {}},
                here{trail.name, marks[k].empty() ? Look::points : Look::open_points, -1, {}};
            for (const auto& [x, y] : trail.points) way.points.push_back({x, y});
            here.points.push_back(way.points.back());
            if (way.points.size() > 1) marks[k].push_back(way);
            marks[k].push_back(here);
        }
    return marks;
}

/// The tiling of this run, in cells of the plane; nothing where the plane has no such cell.
std::vector<Series> mark_of(const TilePlane& plane, Tiling now) {
    const auto at = [](const std::vector<Index>& sizes, Index n) { return std::find(sizes.begin(), sizes.end(), n); };
    const auto row = at(plane.brs(), now.br), col = at(plane.bcs(), now.bc);
    if (row == plane.brs().end() || col == plane.bcs().end()) return {};
    return {{message("export.this_run", std::to_string(now.br), std::to_string(now.bc)),
             Look::open_points,
             -1,
             {{static_cast<double>(col - plane.bcs().begin()), static_cast<double>(row - plane.brs().begin())}}}};
}

}  // namespace

std::string usual_file(Stage stage) {
    return (plays(stage) ? name_of(stage) : std::string(figure_kind_of(stage).name)) + ".svg";
}

std::string about_export(Stage stage) {
    return message(plays(stage) ? "export.picture_or_film" : "export.picture_or_numbers");
}

std::string written_text(const std::string& path) { return message("export.written", text::shown(path)); }

void require_pdf_writer() {
    if (!on_path("rsvg-convert")) throw RunError(message("export.needs_rsvg"));
}

void check_can_export(const Session& session) {
    if (session.busy()) throw UsageError(message("export.in_the_making"));
    if (!session.run()) throw UsageError(message("export.nothing_runs"));
}

void check_stage_file(const Session& session, const std::string& path) {
    const std::string ending = check_ending(message("export.name"), path, {".svg", ".pdf", ".png", ".mp4", ".gif"});
    if (ending.empty()) throw UsageError(message("export.stage_endings", text::shown(path)));
    check_can_export(session);
    if (ending == ".pdf") require_pdf_writer();
    const AtomicFile can_be_written(path);
}

std::string drawing_text(const std::string& path) { return message("export.drawing", text::shown(path)); }

void Export::begin(const Session& session, const View& view, const Explorer& explorer, const std::string& path) {
    const bool numbers = path.ends_with(".csv");
    if (!numbers) check_ending(message("export.name"), path, {".svg", ".pdf", ".png", ".tex", ".csv"});
    if (!numbers) require_gnuplot(message("export.instead_of_gnuplot"));
    const Stage stage = view.stage;
    const bool tiles = stage == Stage::tiles;
    if (!session.request() || (tiles ? !explorer.plane() : !explorer.figure()))
        throw UsageError(message("export.nothing_yet"));
    { const AtomicFile can_be_written(path); }
    FigureRequest request = figure_request(session.setup(), session.request()->problem, stage);
    std::vector<std::string> vary;
    std::vector<std::vector<Series>> marks;
    if (tiles) {
        request.metric = view.metric;
        vary = {range_text("br", explorer.plane()->brs()), range_text("bc", explorer.plane()->bcs())};
        for (const std::string& v : vary) request.vary.push_back(parse_axis(v));
        marks = {mark_of(*explorer.plane(), session.tiling().value_or(Tiling{}))};
    } else {
        marks = marks_of(explorer, stage, explorer.figure()->panels.size());
    }
    const Theme theme = view.light ? Theme::light : Theme::dark;
    request.command = figure_command(request, stage, vary, theme, name_of_file(path));
    path_ = path, news_.reset();
    job_ = std::make_unique<Job>([=](Control& control) mutable {
        request.control = &control;
        Figure f = figure_kind_of(stage).draw(request);
        if (!tiles) f.of_all = text::sentences({f.of_all, about_trail()});
        for (std::size_t k = 0; k < std::min(f.panels.size(), marks.size()); ++k)
            f.panels[k].series.insert(f.panels[k].series.end(), marks[k].begin(), marks[k].end());
        write_file(path,
                   numbers ? as_csv(f) : drawn(f, theme, picture_file(message("export.name"), path), {}, &control));
        return Index{0};
    });
    job_->begin();
}

bool Export::pump(Index units) {
    if (!job_) return true;
    try {
        if (!job_->pump(units)) return false;
        news_ = written_text(path_);
    } catch (const Interrupted&) {
    } catch (const std::exception& e) {
        news_ = e.what();
    }
    job_.reset();
    return true;
}

std::optional<std::string> Export::news() { return std::exchange(news_, std::nullopt); }

}  // namespace tilescope::show
