#include "gui/draw/theme.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/typeface.hpp"
#include "gui/draw/whole.hpp"

namespace tilescope::gui {
namespace {

ImU32 rgb(unsigned hex) { return IM_COL32(hex >> 16 & 0xff, hex >> 8 & 0xff, hex & 0xff, 255); }

// Latin, Greek, dashes and dots, raised and lowered digits, the raised T, arrows, signs.
constexpr ImWchar glyphs[] = {0x20,   0xff,   0x391,  0x3c9,  0x1d40, 0x1d40, 0x2010, 0x2026,
                              0x2070, 0x209c, 0x2190, 0x2195, 0x2211, 0x221e, 0x2248, 0x2248,
                              0x2260, 0x2265, 0x25a1, 0x25a1, 0x25b2, 0x25c0, 0};
constexpr ImWchar box = 0x25a1;  // for letters that no font has

ImFont* add(const std::string& file, float size, ImFontConfig config, const ImWchar* letters = glyphs) {
    config.FontDataOwnedByAtlas = false;
    // ImGui takes a non-const pointer to a font that it does not own, and copies the font.
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<char*>(file.data()), static_cast<int>(file.size()),
                                                      size, &config, letters);
}

/// Adds more letters to the font of a file: its own, and those of further fonts, whose ems are as large.
void merge_letters(const FontFiles& files, const std::string& file, float em, ImFontConfig config) {
    if (!file.empty() && !files.letters.empty()) add(file, em * line_of_em(file), config, files.letters.data());
    for (const FurtherFont& f : files.further) {
        config.FontNo = f.number;
        add(f.file, em * line_of_em(f.file, f.number), config, f.ranges.data());
    }
}

ImFont* load_font(const FontFiles& files, const std::string& file, float size) {
    const std::string& symbols = files.symbols;
    ImFontConfig config;
    config.OversampleH = 2, config.OversampleV = 1;
    if (file.empty()) {
        config.SizePixels = size;
        ImFont* font = ImGui::GetIO().Fonts->AddFontDefault(&config);
        config.MergeMode = true;
        merge_letters(files, file, size, config);
        return font;
    }
    ImFont* font = add(file, size, config);
    // Glyphs that the font lacks (arrows, say) come from the font of symbols.
    config.MergeMode = true;
    if (!symbols.empty() && symbols != file) add(symbols, size * 0.95f, config);
    merge_letters(files, file, size / line_of_em(file), config);
    font->FallbackChar = box;
    return font;
}

void set_colours(Theme& t) {
    if (t.light) {
        t.background = rgb(0xe9ecf0), t.panel = rgb(0xffffff), t.panel_border = rgb(0xc9d0d8);
        t.ink = rgb(0x14191f), t.dim_ink = rgb(0x55606c), t.faint = rgb(0xd4dae1);
        t.highlight = rgb(0xb35900), t.now = t.ink, t.good = rgb(0x00795a), t.bad = rgb(0xb83300);
        t.sram = rgb(0x0072b2), t.registers = rgb(0x7a4fa3), t.hbm = rgb(0x5f6b78), t.bus = rgb(0xaab4bf);
    } else {
        t.background = rgb(0x0f1318), t.panel = rgb(0x181e26), t.panel_border = rgb(0x2b343f);
        t.ink = rgb(0xe8edf2), t.dim_ink = rgb(0x9aa7b4), t.faint = rgb(0x2a323c);
        t.highlight = rgb(0xffd24a), t.now = rgb(0xffffff), t.good = rgb(0x3fc79a), t.bad = rgb(0xff6b4a);
        t.sram = rgb(0x56b4e9), t.registers = rgb(0xb694d8), t.hbm = rgb(0x8b98a6), t.bus = rgb(0x4a5663);
    }
}

ImVec4 vec(ImU32 c) { return ImGui::ColorConvertU32ToFloat4(c); }

void set_style(const Theme& t) {
    ImGuiStyle& s = ImGui::GetStyle();
    s = ImGuiStyle();
    t.light ? ImGui::StyleColorsLight(&s) : ImGui::StyleColorsDark(&s);
    s.WindowPadding = {12, 10}, s.FramePadding = {8, 4}, s.ItemSpacing = {8, 6}, s.ItemInnerSpacing = {6, 4};
    s.WindowRounding = 0, s.ChildRounding = 6, s.FrameRounding = 4, s.GrabRounding = 4, s.PopupRounding = 6;
    s.ScrollbarSize = 12, s.WindowBorderSize = 0, s.ChildBorderSize = 1, s.FrameBorderSize = t.light ? 1.f : 0.f;
    s.ScaleAllSizes(t.scale);
    auto& c = s.Colors;
    const ImU32 field = t.light ? rgb(0xeef1f4) : rgb(0x242c36), over = t.light ? rgb(0xdfe6ed) : rgb(0x303a46);
    c[ImGuiCol_WindowBg] = vec(t.background), c[ImGuiCol_ChildBg] = vec(t.panel), c[ImGuiCol_PopupBg] = vec(t.panel);
    c[ImGuiCol_Border] = vec(t.panel_border), c[ImGuiCol_Text] = vec(t.ink), c[ImGuiCol_TextDisabled] = vec(t.dim_ink);
    c[ImGuiCol_FrameBg] = c[ImGuiCol_Button] = vec(field);
    c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_ButtonHovered] = vec(over);
    c[ImGuiCol_FrameBgActive] = c[ImGuiCol_ButtonActive] = vec(Theme::mixed(over, t.sram, 0.35f));
    c[ImGuiCol_SliderGrab] = c[ImGuiCol_CheckMark] = vec(t.sram);
    c[ImGuiCol_SliderGrabActive] = vec(t.highlight);
    c[ImGuiCol_Header] = vec(over), c[ImGuiCol_HeaderHovered] = vec(Theme::mixed(over, t.sram, 0.2f));
    c[ImGuiCol_HeaderActive] = vec(Theme::mixed(over, t.sram, 0.35f));
    c[ImGuiCol_Tab] = vec(field), c[ImGuiCol_TabHovered] = vec(over);
    c[ImGuiCol_TabActive] = vec(Theme::mixed(over, t.sram, 0.3f));
    c[ImGuiCol_Separator] = vec(t.panel_border), c[ImGuiCol_PlotHistogram] = vec(t.sram);
    c[ImGuiCol_ScrollbarBg] = vec(t.panel), c[ImGuiCol_ScrollbarGrab] = vec(over);
    c[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, 0.5f};
    c[ImGuiCol_TableHeaderBg] = vec(field), c[ImGuiCol_TableBorderLight] = vec(t.faint);
    c[ImGuiCol_TableBorderStrong] = vec(t.panel_border);
}

}  // namespace

ImU32 Theme::hue(Meaning meaning) const {
    const auto pick = [&](unsigned dark, unsigned bright) { return rgb(light ? bright : dark); };
    switch (meaning) {
        case Meaning::query:
            return pick(0x56b4e9, 0x0072b2);
        case Meaning::key:
            return pick(0xe69f00, 0xc77c00);
        case Meaning::value:
            return pick(0x1fbf92, 0x009e73);
        case Meaning::output:
            return pick(0xf07b3a, 0xd55e00);
        case Meaning::score:
            return pick(0xd98cb8, 0xb5568f);
        case Meaning::statistic:
            return pick(0xf0e442, 0x9a8c00);
        case Meaning::gradient:
            return pick(0xf0a67a, 0xd98a52);
        case Meaning::bias:
        case Meaning::other:
            break;
    }
    return pick(0xa8b0bc, 0x6b7480);
}

ImU32 Theme::series(int k) const {
    constexpr unsigned on_dark[] = {0x56b4e9, 0xff8a3d, 0x2bc79a, 0xe79ac5, 0xf0c03c, 0x9bd4f5, 0xb79ce0, 0xa8b0b8};
    constexpr unsigned on_light[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x8c6bb1, 0x7f7f7f};
    return k < 0 ? ink : rgb((light ? on_light : on_dark)[k % 8]);
}

ImU32 Theme::shade(float share) const {
    const ImU32 low = rgb(light ? 0xf7fbff : 0x0d2a45), middle = rgb(light ? 0x6baed6 : 0x3d8fc7),
                high = rgb(light ? 0x08306b : 0xe4f2fb);
    return share < 0.5f ? mixed(low, middle, 2 * share) : mixed(middle, high, 2 * share - 1);
}

ImU32 Theme::faded(ImU32 colour, float opacity) {
    const auto alpha =
        static_cast<ImU32>(whole(std::round(opacity * static_cast<float>(colour >> IM_COL32_A_SHIFT & 0xff)), 0,
                                 colour >> IM_COL32_A_SHIFT & 0xff));
    return (colour & ~IM_COL32_A_MASK) | alpha << IM_COL32_A_SHIFT;
}

ImU32 Theme::mixed(ImU32 a, ImU32 b, float share) {
    const ImVec4 x = vec(a), y = vec(b);
    const auto mix = [share](float p, float q) { return p + (q - p) * share; };
    return ImGui::ColorConvertFloat4ToU32({mix(x.x, y.x), mix(x.y, y.y), mix(x.z, y.z), mix(x.w, y.w)});
}

ImU32 Theme::ink_on(ImU32 background) {
    const ImVec4 c = vec(background);
    return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z > 0.55f ? IM_COL32(15, 18, 22, 255) : IM_COL32_WHITE;
}

bool is_own_letter(char32_t code) {
    for (const ImWchar* range = glyphs; *range != 0; range += 2)
        if (code >= range[0] && code <= range[1]) return true;
    return false;
}

bool is_held(float width, float height, float display_scale) {
    return width < 600 * display_scale || height < 420 * display_scale;
}

Reader reader_of(bool held, bool hall) {
    if (held) return Reader::in_the_hand;
    return hall ? Reader::in_a_hall : Reader::at_a_desk;
}

float scale_for(float width, float height, float display_scale, Reader reader) {
    if (reader == Reader::in_the_hand) {
        const float held = width < height ? width / 390 : height / 460;
        return std::round(std::clamp(held, 0.8f * display_scale, display_scale) * 10) / 10;
    }
    const float room = std::min(width / 1440, height / 900);
    // Small windows get slightly smaller type, but no illegible type.
    const float desk = std::round(std::clamp(room, 0.8f * display_scale, 3.f) * 10) / 10;
    if (reader == Reader::at_a_desk) return desk;
    // In a window narrower than 4:3, the width decides.
    return std::ceil(std::clamp(1.5f * std::min(height, 0.75f * width) / 1080, 0.8f, 4.f) * 10 - 0.01f) / 10;
}

void set_theme(Theme& theme, const FontFiles& files, bool light, float scale, Reader reader) {
    theme.light = light;
    theme.scale = scale;
    theme.reader = reader;
    set_colours(theme);
    set_style(theme);
    ImGui::GetIO().Fonts->Clear();
    // `line` is the height of a line; in a hall, `letters`, the size of the letters, decides.
    const auto load = [&](const std::string& file, float line, float letters) {
        const float size = theme.in_a_hall() ? std::ceil(letters * scale * line_of_em(file)) : std::round(line * scale);
        return load_font(files, file, size);
    };
    theme.text = load(files.text, 16, 17);
    theme.small_text = load(files.text, 13, 16);
    theme.title = load(files.title, 17, 18);
    theme.headline = load(files.title, 22, 26);
    theme.figure = theme.in_a_hall() ? load(files.title, 0, 38) : theme.headline;
    theme.mono = load(files.mono, 14, 16);
}

}  // namespace tilescope::gui
