#include "lab/flags/gpu.hpp"

#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/draw/message.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

/// The GPU that the flags ask for; nullopt where they are wrong, such as a file that cannot be read.
std::optional<GpuSpec> machine(const Shown& shown) {
    if (const Request* r = asked_request(shown)) return r->gpu;
    try {
        return gpu_from(options(shown));
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

std::string about_sram(const std::optional<GpuSpec>& g) {
    const bool kept = g && g->sram_per_sm == g->sram_per_block + 1024;
    const std::string what = message("gpu_controls.about_sram");
    return kept ? sentences({what, message("gpu_controls.about_kept_sram")}) : what;
}

/// Controls that decide modelled DRAM traffic and time, but no count.
void placing_controls(Shown& shown, Screen& screen) {
    const std::string cache = message("gpu_controls.l2");
    begin_field(screen, message("gpu_controls.order"));
    const ImGuiStyle& style = ImGui::GetStyle();
    ImGui::SetNextItemWidth(
        -(ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + width_of(cache) + style.ItemSpacing.x));
    const std::string now = options(shown).order;
    combo(screen, "order", now, message("gpu_controls.about_orders"), [&] {
        for (const Order order : orders) {
            const std::string name = name_of(order);
            if (entry(screen, "order-" + name, name, now == name, about_order(order)))
                change(shown, [&](Options& o) { o.order = name; });
        }
    });
    bool l2 = options(shown).l2;
    ImGui::SameLine();
    if (checkbox(screen, "l2", cache, l2, message("gpu_controls.about_l2")))
        change(shown, [&](Options& o) { o.l2 = l2; });
}

}  // namespace

void gpu_controls(Shown& shown, Screen& screen) {
    heading(screen, message("gpu_controls.gpu"));
    const std::string now = options(shown).gpu;
    const std::string brief = now.substr(now.find_last_of('/') + 1);
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(screen, "gpu", brief, message("gpu_controls.about_gpus"), [&] {
        for (const std::string& name : gpu_preset_names())
            if (entry(screen, "gpu-" + name, name, name == now, message("gpu_controls.about_preset")))
                change(shown, [&](Options& o) {
                    o.gpu = name;
                    o.sms.reset(), o.sram_kib.reset(), o.hbm_bandwidth.reset(), o.l2_bytes.reset();
                });
    });
    const std::optional<GpuSpec> g = machine(shown);
    const Options& o = options(shown);
    const auto sms = static_cast<double>(o.sms.value_or(g ? g->sms : 0));
    const NumberEdit edit = number_row(screen, {"sms", message("gpu_controls.sms"), sms, 1, 256, 1, o.sms.has_value(),
                                                message("gpu_controls.about_sms")});
    if (edit.value) change(shown, [&](Options& to) { to.sms = std::max<Index>(1, typed(*edit.value)); });
    if (edit.reset) change(shown, [&](Options& to) { to.sms.reset(); });
    const double sram = o.sram_kib.value_or(g ? static_cast<double>(g->sram_per_sm) / 1024 : 0);
    number_flag_row(shown, screen, {"sram", message("gpu_controls.sram"), sram, 16, 512, 1, true, about_sram(g)},
                    &Options::sram_kib);
    const double bandwidth = o.hbm_bandwidth.value_or(g ? g->hbm_gbs : 0);
    number_flag_row(shown, screen,
                    {"hbm-bandwidth", message("gpu_controls.hbm"), bandwidth, 100, 8000, 10, true,
                     message("gpu_controls.about_hbm")},
                    &Options::hbm_bandwidth);
    placing_controls(shown, screen);
    if (g) remark(screen, machine_text(*g));
}

}  // namespace tilescope::gui::controls
