// What the window says about a scene at every operation, compared with its runs: headlines of the row against bars,
// bars against formulas, painted tiles against painters, and numbers in the scenes' words against counts.
#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>
#include <set>

#include "core/machine/dtypes.hpp"
#include "core/text/numbers.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/covers.hpp"
#include "show/stage/lanes_shown.hpp"
#include "show/stage/row.hpp"
#include "show/stage/row_text.hpp"
#include "show/stage/wall_text.hpp"
#include "show/state/scenes.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

WaitingSession session_of(const Scene& scene) {
    WaitingSession s;
    s.ask(scene.state.setup);
    INFO(scene.name << ": " << s.problem());
    REQUIRE((s.run() || s.overflow()));
    return s;
}

std::vector<Run*> runs_of(WaitingSession& s) {
    std::vector<Run*> runs;
    for (Run* run : {s.run(), s.rival()})
        if (run) runs.push_back(run);
    return runs;
}

/// The scores of a row as they are drawn after a tick.
class Bars {
  public:
    Bars(const RowStory& story, const RowMoment& m) : m_(m), own_(m.keys.size(), true) {
        if (!m.visit) return;
        // Where parts run side by side, the headline is about one of them: only its scores count.
        for (const RowVisit& v : story.visits())
            for (Index k = v.keys.begin; k < v.keys.end(); ++k)
                if (v.launch == m.visit->launch && v.block != m.visit->block) own_[static_cast<std::size_t>(k)] = false;
        for (const RowVisit& v : story.visits())
            for (Index k = v.keys.begin; k < v.keys.end(); ++k)
                if (v.launch == m.visit->launch && v.block == m.visit->block) own_[static_cast<std::size_t>(k)] = true;
    }

    /// The largest score with a bar in the current block of keys (`now`) or in the blocks before it; -INFINITY where no
    /// score has one.
    float largest(bool now) const {
        float most = -INFINITY;
        for (std::size_t k = 0; k < own_.size(); ++k)
            if (own_[k] && m_.keys[k].state == RowKey::State::known && m_.keys[k].now == now)
                most = std::max(most, m_.keys[k].score);
        return most;
    }
    float largest() const { return std::max(largest(false), largest(true)); }
    /// The sum of the drawn weights that are said to be in the sum.
    double weights() const {
        double sum = 0;
        for (const RowKey& k : m_.keys)
            if (k.has_weight && k.in_sum) sum += static_cast<double>(k.weight);
        return sum;
    }
    /// What the sum has to be called.
    std::string sum() const {
        Index in = 0, out = 0;
        for (const RowKey& k : m_.keys) in += k.has_weight && k.in_sum, out += k.has_weight && !k.in_sum && !k.now;
        return out == 0 ? "sum of the weights" : "sum of " + text::grouped(in) + " of the weights";
    }

  private:
    const RowMoment& m_;
    std::vector<bool> own_;
};

/// What is wrong with the headline's claims; "" where nothing is. `claims` counts the claims that were checked.
std::string wrong_headline(const std::string& said, const RowMoment& m, const Bars& bars, Index& claims) {
    std::smatch found;
    const auto says = [&](const char* pattern) {
        const bool is_so = std::regex_search(said, found, std::regex(pattern));
        claims += is_so;
        return is_so;
    };
    const float before = bars.largest(false), now = bars.largest(true);
    if (says("no larger score. m stays (\\S+),"))
        return now > before ? "a bar is larger" : found[1] != row_number(before) ? "m is another" : "";
    if (says("a larger score. m jumps from (\\S+) to (\\S+?)[,.]( |$)")) {
        const std::string shrunk = text::percent(std::exp(static_cast<double>(before - now)));
        if (!(now > before)) return "no bar is larger";
        if (found[1] != row_number(before) || found[2] != row_number(now)) return "m is another";
        return said.find("shrink") != said.npos && said.find(shrunk) == said.npos ? "it shrinks to " + shrunk : "";
    }
    if (says("is the first (?:that this row sees|of its part). Its largest score, (\\S+), becomes m"))
        return before != -INFINITY ? "there were others" : found[1] != row_number(now) ? "another is the largest" : "";
    if (says("^The row's largest score, (\\S+), becomes m"))
        return found[1] != row_number(bars.largest()) ? "another is the largest" : "";
    if (says("above m = (\\S+)\\?$")) return found[1] != row_number(before) ? "m is another" : "";
    if (says("again: now m = (\\S+) is known")) return found[1] != row_number(bars.largest()) ? "m is another" : "";
    if (says("holds no key that this row sees")) return now != -INFINITY ? "it holds one" : "";
    if (says("^A score is above 88.7")) return bars.largest() > row_ceiling ? "" : "none is";
    return m.m_updated && m.visit->keys.size > 0 ? "says nothing of m, which was updated" : "";
}

bool near(double a, double b) { return std::abs(a - b) <= 2e-3 * std::max({1.0, std::abs(a), std::abs(b)}); }

/// What is wrong between bars and formulas; "" where nothing is.
std::string wrong_bars(const RowMoment& m, const Bars& bars) {
    if (m.has_m && std::isfinite(m.m) && m.m != (m.m_updated ? bars.largest() : bars.largest(false)) &&
        m.visit->keys.size > 0 && m.visit->pass == 0)
        return "the level of m is none of a bar";
    if (m.has_sum && std::isfinite(m.sum) && !near(static_cast<double>(m.sum), bars.weights()))
        return "weights sum to " + row_number(static_cast<float>(bars.weights())) + ", and the sum is " +
               row_number(m.sum);
    if (m.has_sum && row_axis(RowAxis::sum, m) != bars.sum()) return "it is the " + bars.sum();
    for (std::size_t k = 0; k < m.lines.size(); ++k) {
        const RowLine &l = m.lines[k], &then = m.all[k];
        if (l.tile != then.tile) return "the lines are not those that there will be";
        if (l.formula == l.name) return l.name + " is made of itself";
        const bool alone = std::count_if(m.all.begin(), m.all.end(),
                                         [](const RowLine& o) { return o.added && o.form == RowForm::sum; }) == 1;
        if (alone && then.added && then.form == RowForm::sum && l.now[0] != m.sum)
            return "the formula says " + row_number(l.now[0]) + ", the bar " + row_number(m.sum);
        if (m.output_line == &l && l.now != m.output) return "the output's bars are not its formula's";
    }
    return "";
}

/// Checks all operations of a row; returns how many claims its headlines made.
Index check_row(const Run& run, Index head, Index query) {
    const RowStory story(run, head, query);
    Index claims = 0;
    for (Index tick = 0; tick <= run.ticks(); tick += sanitized ? 8 : 1) {
        const RowMoment m = story.at(tick);
        if (!m.visit || (m.overflows && std::isinf(m.sum))) continue;
        const Bars bars(story, m);
        const std::string said = row_headline(run, story, m);
        INFO(run.algorithm().name << ", query " << query << ", operation " << tick << ": " << said);
        const std::string wrong = wrong_headline(said, m, bars, claims) + wrong_bars(m, bars);
        if (!wrong.empty()) FAIL_CHECK(wrong);
    }
    INFO(run.algorithm().name << ", query " << query << " has no headline about its maximum");
    if (!sanitized) CHECK((claims > 0) == story.takes_maxima());
    return claims;
}

/// Tiles whose scores were all painted at least once by finished visits, and tiles that a visit is painting besides.
std::pair<Index, Index> finished_and_begun(const Wall& wall, Index tick) {
    std::map<std::pair<Index, Index>, Count> over, begun;
    for (const Visit& v : wall.visits())
        for (Index i = v.rows.begin; i < v.rows.end(); ++i)
            for (Index j = v.cols.begin; j < v.cols.end(); ++j) {
                const Count scores = common(wall.row(i), v.queries) * common(wall.col(j), v.keys);
                if (v.to <= tick) over[{i, j}] += scores;
                if (v.painted <= tick) begun[{i, j}] += scores;
            }
    const auto finished = std::count_if(over.begin(), over.end(), [&](const auto& t) {
        return t.second >= wall.row(t.first.first).size * wall.col(t.first.second).size;
    });
    return {finished, static_cast<Index>(begun.size()) - finished};
}

}  // namespace

TEST_CASE("at every operation of every scene a row's headline, bars and formulas say the same",
          "[scenes][row][numbers]") {
    Index claims = 0;
    for (const Scene& scene : scenes()) {
        WaitingSession s = session_of(scene);
        for (Run* run : runs_of(s)) {
            if (!run->has_values() || !Wall::has_room_for(*run)) continue;
            INFO(scene.name);
            const Index rows = run->recorded().seq_q, head = head_of_sm(*run, scene.state.view.sm);
            for (const Index query : std::set<Index>{0, rows / 2, rows - 1}) claims += check_row(*run, head, query);
        }
    }
    CHECK(claims > static_cast<Index>(seeds(1000)));
}

TEST_CASE("the same where a new maximum comes late, never or in parts, in every algorithm", "[row]") {
    for (const char* algorithm :
         {"standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "split_kv", "chunked", "memory_efficient"})
        for (const char* distribution : {"normal", "new_maximum"})
            for (const bool causal : {false, true}) {
                Setup asked = setup(algorithm, {{"gpu", "toy"},
                                                {"seq", "16"},
                                                {"dim", "4"},
                                                {"heads", "1"},
                                                {"dtype", "f32"},
                                                {"br", "4"},
                                                {"bc", "4"}});
                asked.options.distribution = distribution, asked.options.causal = causal;
                if (std::string(algorithm) == "split_kv") asked.options.splits = "2";
                WaitingSession s;
                s.ask(asked);
                INFO(algorithm << ", " << distribution << s.problem());
                REQUIRE(s.run());
                for (const Index query : {0, 6, 15}) check_row(*s.run(), 0, query);
            }
}

TEST_CASE("a copy of m says what was copied, and m_old is what m was", "[row]") {
    WaitingSession s = session_of(scene_named("recurrence"));
    const RowStory story(*s.run(), 0, 0);
    std::set<std::string> formulas;
    for (Index tick = 0; tick <= s.run()->ticks(); ++tick)
        for (const RowLine& l : story.at(tick).lines) formulas.insert(row_formula(l));
    CHECK(formulas.contains("m_old ← m"));
    CHECK(formulas.contains("α ← exp(m_old − m)"));
    CHECK_FALSE(formulas.contains("m_old ← m_old"));
}

TEST_CASE("tiles that are said to be painted are done, and those in work are said beside them", "[scenes][wall]") {
    for (const Scene& scene : scenes()) {
        WaitingSession s = session_of(scene);
        for (Run* run : runs_of(s)) {
            if (!Wall::has_room_for(*run)) continue;
            const Wall wall(*run, head_of_sm(*run, scene.state.view.sm));
            if (wall.visits().size() > 600) continue;
            for (Index tick = 0; tick <= run->ticks(); tick += 1 + run->ticks() / 300) {
                run->seek(tick);
                const auto [finished, begun] = finished_and_begun(wall, tick);
                const WallNumber said = wall_numbers(*run, wall, painters(*run, wall), scene.state.view.sm)[2];
                INFO(scene.name << ", operation " << tick);
                CHECK(said.number == text::grouped(finished));
                CHECK((said.what[0].find(", " + text::grouped(begun) + " in work") != std::string::npos) ==
                      (begun > 0));
            }
        }
    }
    WaitingSession causal = session_of(scene_named("causal-tiles"));
    const Wall wall(*causal.run(), 0);
    CHECK(wall.painted_tiles(scene_named("causal-tiles").state.step) == 21);
    CHECK(wall.tiles_begun(scene_named("causal-tiles").state.step) == 5);
}

namespace {

using Number = std::function<std::string()>;
/// A piece of a scene's words with numbers, and a function that makes the piece again from a run.
struct Stated {
    const char* words;
    Number anew;
};

Setup with(Setup s, std::initializer_list<std::pair<const char*, const char*>> flags) {
    for (const auto& [flag, value] : flags) lab::set_flag(s.options, flag, value);
    return s;
}

const lab::Report& report_of(WaitingSession& s, const Setup& setup) {
    s.ask(setup);
    REQUIRE(s.run());
    return s.run()->counted();
}

std::string rounded_us(const Setup& setup) {
    WaitingSession s;
    return text::grouped(std::lround(report_of(s, setup).time->us())) + " µs";
}

std::string dram_of(const Setup& setup) {
    WaitingSession s;
    const auto dram = report_of(s, setup).dram();
    REQUIRE(dram);
    return text::bytes(dram->read + dram->written);
}

Index blocks_of(const Setup& setup) {
    WaitingSession s;
    return report_of(s, setup).time->launches[0].blocks;
}

std::string tiles_to_visit(const Setup& setup) {
    WaitingSession s;
    const lab::Experiment& e = report_of(s, setup).experiment;
    const lab::TileCovers c = lab::covers_of(e.problem, e.tiling);
    return text::grouped(c.partial + c.whole);
}

std::string number_alone(const std::string& with_unit) { return with_unit.substr(0, with_unit.find(' ')); }

/// The lanes of four kernels in view time.
std::vector<LaneView> lanes_of(const Setup& setup) {
    WaitingSession s;
    s.ask(setup);
    LanesShown shown;
    const auto views = shown.of(s.run()->experiment(), Lanes::four, 1);
    return {views.begin(), views.end()};
}
std::vector<Index> lane_steps(const Setup& setup) {
    std::vector<Index> steps;
    for (const LaneView& view : lanes_of(setup)) steps.push_back(std::lround(view.step()));
    return steps;
}

double share_of_scores(const Setup& setup) {
    WaitingSession s;
    const lab::Report& r = report_of(s, setup);
    Bytes scores = 0;
    for (const lab::TensorReport& t : r.tensors)
        if (t.meaning == Meaning::score) scores += t.traffic.read + t.traffic.write;
    return static_cast<double>(scores) / static_cast<double>(r.counters.hbm());
}

std::vector<Stated> stated_of(const Scene& scene) {
    const Setup& own = scene.state.setup;
    const lab::Options& o = own.options;
    const auto grouped = [](Index n) { return text::grouped(n); };
    const std::string ceiling = text::tenths(std::log(static_cast<double>(std::numeric_limits<float>::max())));
    if (scene.name == "softmax-overflows") return {{"88.7", [=] { return ceiling; }}};
    if (scene.name == "scores-travel")
        return {{"up to 4/7", [=] {
                     const double sevenths = 7 * share_of_scores(with(own, {{"seq", "16384"}}));
                     return "up to " + (sevenths < 4 ? text::number(std::ceil(sevenths)) : text::number(sevenths)) +
                            "/7";
                 }}};
    if (scene.name == "grouped-heads")
        return {{"--kv-heads 8 it is 590 kB, not 295 kB", [=] {
                     return "--kv-heads 8 it is " + dram_of(with(own, {{"kv-heads", "8"}})) + ", not " + dram_of(own);
                 }}};
    if (scene.name == "sram-limits-tiles") {
        const auto best = [=] { return rounded_us(with(own, {{"br", "256"}, {"bc", "64"}})); };
        const auto released = [=] { return rounded_us(with(own, {{"br", "128"}, {"bc", "64"}})); };
        const auto kernel = [=] {
            WaitingSession s;
            const Tiling tiles = report_of(s, own).experiment.tiling;  // the tiles of the released kernel
            return std::to_string(tiles.br) + " x " + std::to_string(tiles.bc);
        };
        return {{"At 256 x 64: 1,546 µs", [=] { return "At 256 x 64: " + best(); }},
                {"The released 128 x 64 moves twice its bytes in 1,595 µs",
                 [=] { return "The released " + kernel() + " moves twice its bytes in " + released(); }},
                {"128 x 64 has a kernel", [=] { return kernel() + " has a kernel"; }}};
    }
    if (scene.name == "waves-and-tails") {
        const Index sms = *o.sms, whole = lab::gpu_preset("H100").sms, blocks = blocks_of(own);
        const Setup of_heads = with(own, {{"heads", "17"}, {"seq-q", "2048"}, {"sms", "132"}});
        return {{"17 row blocks", [=] { return grouped(blocks) + " row blocks"; }},
                {"8 SMs", [=] { return grouped(sms) + " SMs"; }},
                {"8 of its 132 SMs", [=] { return grouped(sms) + " of its " + grouped(whole) + " SMs"; }},
                {"one block is left", [=] { return std::string(blocks % sms == 1 ? "one block" : "?") + " is left"; }},
                {"the 17th row block", [=] { return "the " + grouped(blocks) + "th row block"; }},
                {"175 µs, against 118 µs for 16 row blocks",
                 [=] {
                     return rounded_us(own) + ", against " + rounded_us(with(own, {{"seq-q", "2048"}})) + " for " +
                            grouped(blocks - 1) + " row blocks";
                 }},
                {"7 SMs have nothing", [=] { return grouped(sms - blocks % sms) + " SMs have nothing"; }},
                {"272 thread blocks, two waves take 264, and the last 8", [=] {
                     const Index all = blocks_of(of_heads);
                     return grouped(all) + " thread blocks, two waves take " + grouped(2 * whole) + ", and the last " +
                            grouped(all - 2 * whole);
                 }}};
    }
    if (scene.name == "ragged-shapes") {
        const std::string rest = grouped(*o.seq % 64);
        return {{"152 rows in tiles of 64 leave a tile of 24",
                 [=] { return grouped(*o.seq) + " rows in tiles of " + o.br + " leave a tile of " + rest; }},
                {"24 rows instead of 64", [=] { return rest + " rows instead of " + o.br; }}};
    }
    if (scene.name == "does-not-fit") {
        const auto keys = [=] { return grouped(std::stoll(o.bc)); };
        return {{"64 x 1,024 asks", [=] { return o.br + " x " + keys() + " asks"; }},
                {"each has 1,024 rows", [=] { return "each has " + keys() + " rows"; }}};
    }
    if (scene.name == "too-large-to-show") {
        const auto shown = [=] {
            WaitingSession s;
            s.ask(own);
            return grouped(std::ssize(s.run()->schedule().placements()));
        };
        return {
            {"64 heads of 16,384 rows", [=] { return grouped(*o.heads) + " heads of " + grouped(*o.seq) + " rows"; }},
            {"the first 45 row blocks", [=] { return "the first " + shown() + " row blocks"; }},
            {"the 45 thread blocks", [=] { return "the " + shown() + " thread blocks"; }}};
    }
    if (scene.name == "one-token")
        return {{"13.3 µs, not 89.1 µs",
                 [=] {
                     WaitingSession s;
                     report_of(s, own);
                     return text::microseconds(s.run()->counted().time->us()) + ", not " +
                            text::microseconds(s.rival()->counted().time->us());
                 }},
                {"launch 2, and 2.06 kB out", [=] {
                     WaitingSession s;
                     Bytes partial = 0;
                     const lab::Report& r = report_of(s, own);
                     for (const lab::TensorReport& t : r.tensors)
                         if (t.role == Role::scratch) partial += t.traffic.write;
                     return "launch " + grouped(std::ssize(r.launches)) + ", and " + text::bytes(partial) + " out";
                 }}};
    if (scene.name == "sliding-window") {
        const auto causal = [=](const char* seq) {
            Setup s = with(own, {{"seq", seq}});
            lab::clear_flag(s.options, "window-left");
            return tiles_to_visit(s);
        };
        return {{"the 128 keys before", [=] { return "the " + grouped(*o.window_left) + " keys before"; }},
                {"45 to visit, not 21",
                 [=] {
                     return tiles_to_visit(with(own, {{"seq", "1024"}})) + " to visit, not " + tiles_to_visit(own);
                 }},
                {"136, not 36", [=] { return causal("1024") + ", not " + causal("512"); }}};
    }
    if (scene.name == "block-sparse")
        return {{"1.02 of 1.84 MB", [=] {
                     WaitingSession sparse, dense;
                     Setup all = own;
                     lab::clear_flag(all.options, "block-mask"), lab::clear_flag(all.options, "mask-block");
                     return number_alone(text::bytes(report_of(sparse, own).counters.hbm())) + " of " +
                            text::bytes(report_of(dense, all).counters.hbm());
                 }}};
    if (scene.name == "turns") {
        const auto step = [=](std::size_t k) { return lane_steps(own)[k]; };
        return {{"459 cycles less", [=] { return grouped(step(1) - step(2)) + " cycles less"; }},
                {"2,539 cycles instead of 2,998",
                 [=] { return grouped(step(2)) + " cycles instead of " + grouped(step(1)); }}};
    }
    if (scene.name == "overlap") {
        const auto step = [=](std::size_t k) { return lane_steps(own)[k]; };
        return {{"d = 256", [=] { return "d = " + grouped(*o.dim); }},
                {"2,757 cycles instead of 2,873",
                 [=] { return grouped(step(3)) + " cycles instead of " + grouped(step(2)); }}};
    }
    if (scene.name == "saturation") {
        const Dtype type = *dtype_from(*o.dtype);
        const double end = static_cast<double>(largest(type)), grown = std::exp2(*o.stale_max);
        const auto scale = static_cast<double>(*o.p_scale);
        return {{"e4m3 ends at 448", [=] { return *o.dtype + " ends at " + text::number(end); }},
                {"multiplied by 256", [=] { return "multiplied by " + text::number(scale); }},
                {"256 alone fits, 16 times",
                 [=] {
                     CHECK(scale <= end);
                     return text::number(scale) + " alone fits, " + text::number(grown) + " times";
                 }},
                {"below 448: a factor of 16, or a maximum that is stale by 0.75", [=] {
                     const double factor = std::exp2(std::floor(std::log2(end / grown)));
                     const double stale = std::floor(4 * std::log2(end / scale)) / 4;
                     return "below " + text::number(end) + ": a factor of " + text::number(factor) +
                            ", or a maximum that is stale by " + text::number(stale);
                 }}};
    }
    if (scene.name == "recompute-or-store") {
        const auto both = [=](auto&& of, const char* between) {
            WaitingSession s;
            report_of(s, own);
            return number_alone(of(s.rival()->counted())) + between + of(s.run()->counted());
        };
        return {{"42.9 instead of 34.4 GFLOP",
                 [=] {
                     return both(
                         [](const lab::Report& r) {
                             return text::count(static_cast<double>(r.counters.matmul_flops)) + "FLOP";
                         },
                         " instead of ");
                 }},
                {"8.65 of 403 MB",
                 [=] { return both([](const lab::Report& r) { return text::bytes(r.hbm_extra); }, " of "); }}};
    }
    return {};
}

}  // namespace

TEST_CASE("every number in a scene's words is that of its run, made anew", "[scenes][numbers]") {
    for (const Scene& scene : scenes()) {
        std::string words = scene.caption + ' ' + scene.question + ' ' + scene.answer;
        for (const Stated& s : stated_of(scene)) {
            INFO(scene.name << ": " << s.words);
            CHECK(s.anew() == s.words);
            const std::size_t at = words.find(s.words);
            if (at != words.npos)
                words.erase(at, std::string(s.words).size());
            else
                CHECK(scene.notes.find(s.words) != scene.notes.npos);
        }
        // Digits in names are no numbers. Every other digit has to be in a piece above.
        words = std::regex_replace(words, std::regex("FlashAttention-[12]|flash_v[12]|f32|L2"), "");
        INFO(scene.name << " has a number that is not looked at: " << words);
        CHECK(std::none_of(words.begin(), words.end(), [](char c) { return c >= '0' && c <= '9'; }));
    }
}
