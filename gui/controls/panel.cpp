#include <cmath>

#include "gui/controls/files.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "lab/flags/model.hpp"
#include "lab/gpu_presets.hpp"
#include "show/setup_text.hpp"
#include "show/setups.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

/// Changes the flags and runs again.
template <class F>
void change(App& app, F&& what) {
    Setup s = app.session.setup();
    what(s.options);
    app.session.ask(s);
}

/// Typed numbers may be anything; what they mean is checked when the run is made.
Index typed(double x) { return whole(std::round(x), -(Index{1} << 41), Index{1} << 41); }

const Options& options(const App& app) { return app.session.setup().options; }

/// A number of the problem; what is wrong with it is said where the run would be.
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

/// What the flags came to; nullptr while that is not known, or where they are wrong.
const Request* asked_request(const App& app) { return app.session.busy() ? nullptr : app.session.request(); }

/// What is asked for, also where it is wrong.
Problem asked(const App& app) {
    if (const Request* r = asked_request(app)) return r->problem;
    return sizes_from(options(app));
}

// --- algorithm ----------------------------------------------------------------------------------------------------

void algorithm_list(App& app) {
    const Algorithm& now = app.session.algorithm();
    for (const Computation* c : {&computation::attention, &computation::softmax}) {
        heading(app, c->title);
        for (const Algorithm& a : algorithms()) {
            if (a.computes != c) continue;
            const std::string what = std::string(a.idea) + ".\nSource: " + a.paper;
            if (entry(app, std::string("algorithm-") + a.name, a.name, a.name == now.name, what))
                app.session.ask(with_algorithm(app.session.setup(), a.name));
        }
    }
}

void example_list(App& app) {
    combo(app, "examples", "Examples", "Setups that are ready to show, for the chosen algorithm.", [&] {
        int n = 0;
        for (const Example& e : examples()) {
            if (!entry(app, "example-" + std::to_string(++n), e.name, false, e.what)) continue;
            app.session.ask(setup_of(e, app.session.algorithm().name));
            app.playback.pause();
            app.playback.seek(0);
        }
    });
}

void model_list(App& app) {
    const Setup& s = app.session.setup();
    const std::string asked = model_asked(s.options);
    const std::string now = asked.empty() ? "" : asked + ' ' + phase_asked(s.options);
    combo(app, "model", now.empty() ? "Models" : now.c_str(),
          (now.empty() ? "" : now + ".\n") + "One layer of a model that people run: its heads, dimension, type, mask.",
          [&] {
              if (entry(app, "model-none", "none", asked.empty(), "The numbers below."))
                  app.session.ask(with_model_of(s, "", Phase::prefill));
              for (const Model& m : models())
                  for (const Phase phase : phases) {
                      const std::string name = m.name + ' ' + name_of(phase);
                      if (entry(app, "model-" + m.name + '-' + name_of(phase), name,
                                s.options.model == m.name && phase_asked(s.options) == name_of(phase),
                                about_model(m, phase)))
                          app.session.ask(with_model_of(s, m.name, phase));
                  }
          });
}

void scene_list(App& app) {
    combo(app, "scenes", app.scene ? app.scene->title.c_str() : "Scenes",
          "A lecture in pictures, each with its point and a question. Page Up and Page Down turn them.", [&] {
              for (const Scene& s : scenes())
                  if (entry(app, "scene-" + s.name, scene_title(s), app.scene && app.scene->name == s.name, s.caption))
                      app.open_scene(s);
          });
}

void algorithm_controls(App& app) {
    ImGui::PushFont(app.theme.title);
    text_line("TileScope");
    ImGui::PopFont();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(app, "algorithm", app.session.setup().algorithm.c_str(), "What runs.", [&] { algorithm_list(app); });
    remark(app, app.session.algorithm().idea);
    const bool attention = app.session.algorithm().computes == &computation::attention;
    const float gap = ImGui::GetStyle().ItemSpacing.x, row = ImGui::GetContentRegionAvail().x;
    ImGui::PushFont(app.theme.small_text);
    const float word = width_of("Examples") + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x + 1;
    ImGui::SetNextItemWidth(attention ? std::min(word, row / 2) : row);
    example_list(app);
    if (attention) {
        ImGui::SameLine(0, gap);
        ImGui::SetNextItemWidth(-FLT_MIN);
        model_list(app);
    }
    ImGui::SetNextItemWidth(-FLT_MIN);
    scene_list(app);
    ImGui::PopFont();
}

// --- problem ------------------------------------------------------------------------------------------------------

void length_controls(App& app, const Problem& p, bool attention) {
    const char* what = attention
                           ? "Sequence length: rows of Q (and of K and V, unless they have a length of their own)."
                           : "Rows of X (and columns, unless they have a number of their own).";
    const Options said = with_model(options(app));
    const auto queries = said.seq_q ? &Options::seq_q : &Options::seq;
    index_row(app, {"seq", "seq", static_cast<double>(p.seq_q), 16, 65536, 0, false, what}, queries);
    bool other = said.seq_k || said.seq_q;
    if (checkbox(app, "other-keys", attention ? "other length for keys" : "other number of columns", other,
                 attention ? "K and V have another number of rows than Q." : "X is not square."))
        change(app, [&](Options& o) {
            if (other)
                o.seq_k = p.seq_k;
            else
                o.seq = p.seq_q, o.seq_q.reset(), o.seq_k.reset();
        });
    if (other)
        index_row(app,
                  {"seq-k", attention ? "keys" : "columns", static_cast<double>(p.seq_k), 16, 65536, 0, false,
                   attention ? "Rows of K and V." : "Columns of X."},
                  &Options::seq_k);
}

void type_controls(App& app, const Problem& p, bool attention) {
    begin_field(app, "dtype");
    const std::string now = options(app).dtype.value_or(name_of(p.dtype));
    combo(app, "dtype", now.c_str(), "How a number is stored in HBM and SRAM: f32 takes 4 bytes, f16 and bf16 take 2.",
          [&] {
              for (const char* name : {"f32", "f16", "bf16"})
                  if (entry(app, std::string("dtype-") + name, name, now == name, "Storage type"))
                      change(app, [&](Options& o) { o.dtype = name; });
          });
    if (!attention) return;
    bool causal = with_model(options(app)).causal.value_or(false);
    if (checkbox(app, "causal", "causal", causal, "A row sees no key after itself: query r sees keys up to r."))
        change(app, [&](Options& o) {
            o.causal.reset();
            if (with_model(o).causal.value_or(false) != causal) o.causal = causal;
        });
}

bool from_files(const App& app) {
    const Options& o = options(app);
    return !(o.q + o.k + o.v + o.x).empty();
}

void value_list(App& app) {
    begin_field(app, "values");
    combo(app, "distribution", options(app).distribution.c_str(), "What Q, K and V hold, or X.", [&] {
        for (const Distribution d : distributions) {
            const std::string name = name_of(d);
            if (entry(app, "distribution-" + name, name, options(app).distribution == name, about_distribution(d)))
                change(app, [&](Options& to) { to.distribution = name; });
        }
    });
}

void problem_controls(App& app) {
    const Problem p = asked(app);
    const bool attention = app.session.algorithm().computes == &computation::attention;
    const auto number = [](Index n) { return static_cast<double>(n); };
    heading(app, "Problem");
    length_controls(app, p, attention);
    index_row(app, {"heads", "heads", number(p.heads), 1, 64, 0, false, attention ? "Heads of Q." : "Matrices."},
              &Options::heads);
    if (attention)
        index_row(app,
                  {"kv-heads", "kv-heads", number(p.kv_heads), 1, 64, 0, true,
                   "Heads of K and V: as many as of Q, or fewer that are shared (grouped-query attention). Must divide "
                   "the heads."},
                  &Options::kv_heads);
    index_row(app, {"batch", "batch", number(p.batch), 1, 64, 0, false, "Batch entries, each with all heads."},
              &Options::batch);
    if (attention) {
        index_row(app, {"dim", "dim", number(p.dim), 4, 256, 0, false, "Head dimension d: columns of Q and K."},
                  &Options::dim);
        index_row(app,
                  {"dim-v", "dim-v", number(p.dim_v), 4, 256, 0, true, "Columns of V and O; as many as of Q, usually."},
                  &Options::dim_v);
    }
    type_controls(app, p, attention);
    if (!from_files(app)) value_list(app);
}

// --- tiles --------------------------------------------------------------------------------------------------------

void tile_row(App& app, const char* flag, const char* label, std::string Options::*member, Index resolved,
              const std::string& what) {
    const std::string& given = options(app).*member;
    const bool is_auto = given == "auto";
    const double shown = is_auto ? static_cast<double>(resolved) : std::strtod(given.c_str(), nullptr);
    const NumberEdit edit = number_row(app, {flag, label, shown, 1, 1024, 0, !is_auto, what});
    if (edit.value) change(app, [&](Options& o) { o.*member = std::to_string(typed(*edit.value)); });
    if (edit.reset) change(app, [&](Options& o) { o.*member = "auto"; });
}

/// Where tiles come from that are not given. Choosing a rule frees both.
void rule_list(App& app) {
    begin_field(app, "auto");
    const std::string now = options(app).tiles;
    combo(app, "tiles", now.c_str(), tile_rule_text(asked_request(app), app.session.algorithm()), [&] {
        for (const TileRule rule : tile_rules) {
            const std::string name = name_of(rule);
            if (entry(app, "tiles-" + name, name, now == name, about_rule(rule)))
                change(app, [&](Options& o) { o.tiles = name, o.br = o.bc = "auto"; });
        }
    });
}

void tile_controls(App& app) {
    heading(app, "Tiles");
    const bool attention = app.session.algorithm().computes == &computation::attention;
    const std::optional<Tiling> now = app.session.tiling();
    const std::string freed = " × leaves the choice to the rule below.";
    tile_row(app, "br", "Br", &Options::br, now ? now->br : 0,
             (attention ? "Rows of a tile of Q and O." : "Rows of a tile of X.") + freed);
    tile_row(app, "bc", "Bc", &Options::bc, now ? now->bc : 0,
             (attention ? "Rows of a tile of K and V: columns of a tile of S." : "Columns of a tile of X.") + freed);
    if (now) remark(app, tiling_text(options(app), *now, asked(app)));
    rule_list(app);
}

// --- GPU ----------------------------------------------------------------------------------------------------------

/// The machine that is asked for; nothing where its file cannot be read, say.
std::optional<GpuSpec> machine(const App& app) {
    if (const Request* r = asked_request(app)) return r->gpu;
    try {
        return gpu_from(options(app));
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

/// What decides DRAM traffic and time, and nothing that is counted.
void placing_controls(App& app) {
    const char* cache = "L2";
    begin_field(app, "order");
    const ImGuiStyle& style = ImGui::GetStyle();
    ImGui::SetNextItemWidth(
        -(ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + width_of(cache) + style.ItemSpacing.x));
    const std::string now = options(app).order;
    combo(app, "order", now.c_str(),
          "In which thread blocks start: it changes modelled DRAM traffic and time. What is played goes by the grid.",
          [&] {
              for (const Order order : orders) {
                  const std::string name = name_of(order);
                  if (entry(app, "order-" + name, name, now == name, about_order(order)))
                      change(app, [&](Options& o) { o.order = name; });
              }
          });
    bool l2 = options(app).l2;
    ImGui::SameLine();
    if (checkbox(app, "l2", cache, l2, "Without it, whatever crosses an SM's boundary comes from DRAM."))
        change(app, [&](Options& o) { o.l2 = l2; });
}

void gpu_controls(App& app) {
    heading(app, "GPU");
    const std::string now = options(app).gpu;
    const std::string shown = now.substr(now.find_last_of('/') + 1);
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(app, "gpu", shown.c_str(), "The modelled GPU. Every number of a preset has a source: tilescope gpus show.",
          [&] {
              for (const std::string& name : gpu_preset_names())
                  if (entry(app, "gpu-" + name, name, name == now, "A preset; takes the three numbers below with it."))
                      change(app, [&](Options& o) {
                          o.gpu = name;
                          o.sms.reset(), o.sram_kib.reset(), o.hbm_bandwidth.reset(), o.l2_bytes.reset();
                      });
          });
    const std::optional<GpuSpec> g = machine(app);
    const Options& o = options(app);
    const auto sms = static_cast<double>(o.sms.value_or(g ? g->sms : 0));
    const NumberEdit edit = number_row(app, {"sms", "SMs", sms, 1, 256, 1, o.sms.has_value(),
                                             "Streaming multiprocessors: how many thread blocks work at a time."});
    if (edit.value) change(app, [&](Options& to) { to.sms = std::max<Index>(1, typed(*edit.value)); });
    if (edit.reset) change(app, [&](Options& to) { to.sms.reset(); });
    const double sram = o.sram_kib.value_or(g ? static_cast<double>(g->sram_per_sm) / 1024 : 0);
    number_flag_row(app, {"sram", "SRAM KiB", sram, 16, 512, 1, true, "SRAM (shared memory) of an SM, in KiB."},
                    &Options::sram_kib);
    const double bandwidth = o.hbm_bandwidth.value_or(g ? g->hbm_gbs : 0);
    number_flag_row(app,
                    {"hbm-bandwidth", "HBM GB/s", bandwidth, 100, 8000, 10, true,
                     "Bandwidth of HBM, in GB/s (1e9 bytes a second)."},
                    &Options::hbm_bandwidth);
    placing_controls(app);
    if (g) remark(app, machine_text(*g));
}

// --- race and view ------------------------------------------------------------------------------------------------

/// The next item beside the last one, if it is no wider than what is left of the row.
void beside(const char* text) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float needed = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + width_of(text);
    if (ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + needed <= right) ImGui::SameLine();
}

void pace_controls(App& app) {
    struct Choice {
        Pace pace;
        const char *place, *text, *what;
    };
    const Choice choices[] = {
        {Pace::step, "pace-step", "step",
         "One step takes as long to play as another; in a race both have done as many of them."},
        {Pace::bytes, "pace-bytes", "SM bytes",
         "Both have moved the same SM traffic: bytes that cross an SM's boundary, the papers' HBM accesses. The L2 "
         "catches part of it."},
        {Pace::time, "pace-time", "time",
         "Playing goes on at a constant rate of modelled time (not measured); in a race both have taken the same."}};
    Setup s = app.session.setup();
    ImGui::PushFont(app.theme.small_text);
    for (const Choice& c : choices) {
        if (c.pace != Pace::step) beside(c.text);
        ImGui::BeginDisabled(c.pace == Pace::bytes && s.rival.empty());
        ImGui::PushStyleColor(ImGuiCol_Border, rim(app.theme));
        if (choice(c.text, s.pace == c.pace)) s.pace = c.pace;
        ImGui::PopStyleColor();
        app.place(c.place);
        tip(app, c.what);
        ImGui::EndDisabled();
    }
    ImGui::PopFont();
    app.session.ask(s);
}

void race_controls(App& app) {
    heading(app, "Race against");
    Setup s = app.session.setup();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(app, "race", s.rival.empty() ? "none" : s.rival.c_str(),
          "A second algorithm on the same problem and GPU, side by side.", [&] {
              if (entry(app, "race-none", "none", s.rival.empty(), "One algorithm alone")) s.rival.clear();
              for (const Algorithm* a : rivals_of(app.session.algorithm()))
                  if (entry(app, std::string("race-") + a->name, a->name, s.rival == a->name, a->idea))
                      s.rival = a->name;
          });
    app.session.ask(s);
    pace_controls(app);
}

// --- data ---------------------------------------------------------------------------------------------------------

void seed_row(App& app) {
    const Options& o = options(app);
    const NumberEdit edit = number_row(
        app, {"seed", "seed", static_cast<double>(o.seed), 0, 100, 1, o.seed != 0, "Other numbers of the same kind."});
    if (edit.value)
        change(app, [&](Options& to) { to.seed = static_cast<std::uint64_t>(std::max<Index>(0, typed(*edit.value))); });
    if (edit.reset) change(app, [&](Options& to) { to.seed = Options().seed; });
}

void softmax_list(App& app) {
    begin_field(app, "softmax");
    const std::string now = options(app).softmax.value_or(name_of(Softmax::safe));
    combo(app, "softmax", now.c_str(), "Of standard attention: with the row's maximum subtracted first, or without.",
          [&] {
              for (const Softmax softmax : {Softmax::safe, Softmax::naive}) {
                  const std::string name = name_of(softmax);
                  if (entry(app, "softmax-" + name, name, now == name,
                            softmax == Softmax::safe ? "exp(S - max S)" : "exp(S), which may overflow"))
                      change(app, [&](Options& o) { o.softmax = name; });
              }
          });
}

void data_controls(App& app) {
    heading(app, "Data");
    from_files(app) ? remark(app, "The numbers of the files.") : seed_row(app);
    const Algorithm& algorithm = app.session.algorithm();
    if (algorithm.computes != &computation::attention) return;
    const Problem p = asked(app);
    number_flag_row(app,
                    {"scale", "scale", p.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<Index>(1, p.dim)))),
                     0.01, 100, 0, true, "Factor on the logits; 1/sqrt(dim) unless given."},
                    &Options::scale);
    if (algorithm.supports.has(Feature::naive_softmax)) softmax_list(app);
}

// --- view ---------------------------------------------------------------------------------------------------------

void view_controls(App& app) {
    ImGui::Separator();
    checkbox(app, "light", "light", app.view.light, "Light theme: for bright rooms and for print.");
    ImGui::PushFont(app.theme.small_text);
    beside("projector");
    ImGui::PopFont();
    checkbox(app, "projector", "projector", app.view.projector, "Larger type: to be read from the last row.");
    if (button(app, "tour", "Tour", 0, 4, "A minute's tour of the window.")) app.view.tour = 0;
    file_controls(app);
}

}  // namespace

void panel(App& app) {
    const Theme& t = app.theme;
    const std::uint64_t shown = app.session.version();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(6), t.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, t.px(1));
    // The view's controls and the files stay where they are. A scroll bar that comes and goes would move sliders under
    // the mouse that holds them.
    const float all = ImGui::GetContentRegionAvail().y, below = 2.3f * ImGui::GetFrameHeightWithSpacing();
    ImGui::BeginChild("settings", {0, std::max(all - below, all / 2)}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
    algorithm_controls(app);
    problem_controls(app);
    tile_controls(app);
    gpu_controls(app);
    race_controls(app);
    data_controls(app);
    ImGui::EndChild();
    view_controls(app);
    ImGui::PopStyleVar(3);
    if (app.session.version() != shown) follow(app);
}

}  // namespace tilescope::gui::controls
