#include "show/stage/explorer.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "lab/model/mapping.hpp"
#include "show/stage/figures.hpp"

namespace tilescope::show {
using namespace lab;

std::string about_trail() { return text::message("explorer.about_trail"); }

std::string about_figure(const Figure& figure, bool waiting) {
    return text::sentences({waiting ? text::message("explorer.about_waiting") : "", about_trail(), caption_of(figure)});
}

class Explorer::Plane : public TilePlane {
  public:
    using TilePlane::TilePlane;
    bool presentable() const { return version() > 0; }
};

/// Draws a figure, in a single unit of work.
class Explorer::Drawing {
  public:
    Drawing(const Key& key, const Problem& problem)
        : kind_(figure_kind_of(key.stage)), request_(figure_request(key.setup, problem, key.stage)) {}
    Index work(Control& control) {
        request_.control = &control;
        Figure drawn = kind_.draw(request_);
        const Lock lock(mutex_);
        figure_ = std::move(drawn);
        return 0;
    }
    bool presentable() const { return figure() != nullptr; }
    const Figure* figure() const {
        const Lock lock(mutex_);
        return figure_ ? &*figure_ : nullptr;
    }

  private:
    const FigureKind& kind_;
    FigureRequest request_;
    mutable Mutex mutex_;  // of the figure, which is written once
    std::optional<Figure> figure_;
};

Explorer::Explorer() = default;
Explorer::~Explorer() = default;

bool Explorer::pump(const Session& session, const View& view, Index units) {
    remember(session);
    ask(session, view);
    const bool planned = planes_.pump(units), drawn = figures_.pump(units);
    return planned && drawn;
}

void Explorer::await(const Session& session, const View& view) {
    pump(session, view, 0);
    planes_.await();
    figures_.await();
}

void Explorer::finish(const Session& session, const View& view) {
    pump(session, view, 0);
    planes_.finish();
    figures_.finish();
}

void Explorer::ask(const Session& session, const View& view) {
    if (session.busy() || !session.request() || plays(view.stage)) return;
    Key key{view.stage, session.setup()};
    key.setup.options.br = key.setup.options.bc = "auto";
    if (view.stage != Stage::tiles) {
        figures_.ask(key, [&] { return std::make_unique<Drawing>(key, session.request()->problem); });
        return;
    }
    key.setup.rival.clear();
    planes_.ask(key, [&] {
        const Request& r = *session.request();
        const Problem p = problem_of(session.algorithm(), r);
        const Index splits = with_splits(r.wish, session.algorithm(), p, r.gpu).tiling.splits;
        return std::make_unique<Plane>(Experiment{&session.algorithm(), p, {0, 0, splits}, r.gpu, r.wish.placing});
    });
}

TilePlane* Explorer::plane() { return planes_.shown(); }
const TilePlane* Explorer::plane() const { return planes_.shown(); }

const Figure* Explorer::figure() const { return figures_.shown() ? figures_.shown()->figure() : nullptr; }

std::string Explorer::problem() const { return planes_.problem().empty() ? figures_.problem() : planes_.problem(); }

void Explorer::remember(const Session& session) {
    const Run* run = session.run();
    if (!run || version_ == session.version()) return;
    version_ = session.version();
    const Report& r = run->counted();
    const Problem& p = r.experiment.problem;
    const std::string of = r.experiment.algorithm->name + (' ' + r.experiment.gpu.name) + ' ' + name_of(p.dtype);
    if (of != of_) past_.clear();
    of_ = of;
    Past past{static_cast<double>(p.seq_q), static_cast<double>(r.counters.hbm()), {}, roofline_dot(r)};
    past.dram_read_bytes = on_axis(*find_metric("dram_read_bytes"), r);
    past_.push_back(past);
    constexpr std::size_t most = 200;
    if (past_.size() > most) past_.erase(past_.begin());
}

std::vector<Explorer::Trail> Explorer::trails(Stage stage, std::size_t panel) const {
    Trail sm{text::message("explorer.this_run"), {}}, dram{text::message("explorer.dram_of_this_run"), {}};
    for (const Past& p : past_) {
        const auto add = [](Trail& t, std::optional<double> x, std::optional<double> y) {
            if (x && y && std::isfinite(*x) && std::isfinite(*y)) t.points.emplace_back(*x, *y);
        };
        if (stage == Stage::roofline)
            add(sm, p.dot.sm_intensity, p.dot.flops_per_s), add(dram, p.dot.dram_intensity, p.dot.flops_per_s);
        if (stage == Stage::io) add(sm, p.n, panel == 0 ? p.sm_bytes : p.dram_read_bytes);
    }
    std::vector<Trail> all{sm};
    if (stage == Stage::roofline) all.push_back(dram);
    return all;
}

}  // namespace tilescope::show
