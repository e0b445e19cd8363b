#include "algorithms/contract/pseudo_code.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/draw/message.hpp"
#include "lab/flags/model.hpp"
#include "lab/own/own.hpp"
#include "show/state/setups.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

void algorithm_list(Shown& shown, Screen& screen) {
    const Algorithm& now = shown.session.algorithm();
    for (const Computation* c : {&computation::attention, &computation::attention_backward, &computation::softmax}) {
        heading(screen, message(c->title));
        for (const Algorithm& a : algorithms()) {
            if (a.computes != c) continue;
            const std::string what = message("algorithm_controls.idea", idea_of(a)) + "\n" +
                                     message("algorithm_controls.source", source_of(a));
            if (entry(screen, std::string("algorithm-") + a.name, a.name, a.name == now.name, what))
                shown.session.ask(with_algorithm(shown.session.setup(), a.name));
        }
    }
}

void example_list(Shown& shown, Screen& screen) {
    combo(screen, "examples", message("algorithm_controls.examples"), message("algorithm_controls.about_examples"),
          [&] {
              int n = 0;
              for (const Example& e : examples()) {
                  if (!entry(screen, "example-" + std::to_string(++n), message(e.name), false, message(e.what)))
                      continue;
                  shown.session.ask(setup_of(e, shown.session.algorithm().name));
                  shown.playback.pause();
                  shown.playback.seek(0);
              }
          });
}

void model_list(Shown& shown, Screen& screen) {
    const Setup& s = shown.session.setup();
    const std::string asked = model_asked(s.options);
    const std::string now = asked.empty() ? "" : asked + ' ' + phase_asked(s.options);
    const std::string about = message("algorithm_controls.about_models");
    combo(screen, "model", now.empty() ? message("algorithm_controls.models") : now,
          now.empty() ? about : message("algorithm_controls.model", now) + "\n" + about, [&] {
              if (entry(screen, "model-none", message("algorithm_controls.no_model"), asked.empty(),
                        message("algorithm_controls.about_no_model")))
                  shown.session.ask(with_model_of(s, "", Phase::prefill));
              for (const Model& m : models())
                  for (const Phase phase : phases) {
                      const std::string name = m.name + ' ' + name_of(phase);
                      if (entry(screen, "model-" + m.name + '-' + name_of(phase), name,
                                s.options.model == m.name && phase_asked(s.options) == name_of(phase),
                                about_model(m, phase)))
                          shown.session.ask(with_model_of(s, m.name, phase));
                  }
          });
}

void scene_list(Shown& shown, Screen& screen) {
    combo(screen, "scenes", shown.scene ? shown.scene->title : message("algorithm_controls.scenes"),
          message("algorithm_controls.about_scenes"), [&] {
              for (const Scene& s : scenes())
                  if (entry(screen, "scene-" + s.name, scene_title(s), shown.scene && shown.scene->name == s.name,
                            s.caption))
                      shown.open_scene(s);
          });
}

}  // namespace

void algorithm_controls(Shown& shown, Screen& screen) {
    ImGui::PushFont(screen.theme.title);
    text_line("TileScope");
    ImGui::PopFont();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(screen, "algorithm", shown.session.setup().algorithm, message("algorithm_controls.about_algorithms"),
          [&] { algorithm_list(shown, screen); });
    remark(screen, idea_of(shown.session.algorithm()));
    const bool attention = shown.session.algorithm().computes->features.has(Feature::head_dims);
    const float gap = ImGui::GetStyle().ItemSpacing.x, row = ImGui::GetContentRegionAvail().x;
    ImGui::PushFont(screen.theme.small_text);
    const float word = width_of(message("algorithm_controls.examples")) + ImGui::GetFrameHeight() +
                       2 * ImGui::GetStyle().FramePadding.x + 1;
    ImGui::SetNextItemWidth(attention ? std::min(word, row / 2) : row);
    example_list(shown, screen);
    if (attention) {
        ImGui::SameLine(0, gap);
        ImGui::SetNextItemWidth(-FLT_MIN);
        model_list(shown, screen);
    }
    ImGui::SetNextItemWidth(-FLT_MIN);
    scene_list(shown, screen);
    ImGui::PopFont();
}

}  // namespace tilescope::gui::controls
