// The numbers of a figure, for programs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/figure/figure.hpp"

namespace tilescope::lab {
namespace {

using Json = nlohmann::ordered_json;

bool by_shade(const Box& b) { return b.colour < 0 && !b.hatched; }

Json axis(const FigureAxis& a) {
    constexpr const char* units[] = {"", "B", "s", "FLOP/s", "%"};
    return {{"title", a.title}, {"unit", units[static_cast<std::size_t>(a.scale)]}, {"log", a.log}};
}

Json panel(const Panel& p) {
    Json j = {
        {"title", p.title}, {"x", axis(p.x)}, {"y", axis(p.y)}, {"series", Json::array()}, {"boxes", Json::array()}};
    if (p.shades) j["shade"] = axis(*p.shades);
    for (const Series& s : p.series) {
        Json points = Json::array();
        for (const FigurePoint& q : s.points) points.push_back({{"x", q.x}, {"y", q.y}, {"label", q.label}});
        j["series"].push_back({{"title", s.title}, {"points", points}});
    }
    for (const Box& b : p.boxes)
        j["boxes"].push_back({{"bar", b.bar},
                              {"series", b.series},
                              {"x", b.left},
                              {"y", b.bottom},
                              {"x_to", b.right},
                              {"y_to", b.top},
                              {"shade", by_shade(b) ? Json(b.shade) : Json(nullptr)},
                              {"label", b.label}});
    return j;
}

}  // namespace

std::string caption_of(const Figure& f) {
    std::vector<std::string> parts;
    for (const Panel& p : f.panels)
        if (!p.caption.empty()) parts.push_back(p.caption);
    if (!f.of_all.empty()) parts.push_back(f.of_all);
    return text::join(parts, " ");
}

std::string as_csv(const Figure& f) {
    std::string out = text::csv_line({"panel", "series", "x", "y", "x_to", "y_to", "shade", "label", "bar"});
    for (const Panel& p : f.panels) {
        for (const Series& s : p.series)
            for (const FigurePoint& q : s.points)
                out += text::csv_line({p.title, s.title, text::exact(q.x), text::exact(q.y), "", "", "", q.label, ""});
        for (const Box& b : p.boxes)
            out += text::csv_line({p.title, b.series, text::exact(b.left), text::exact(b.bottom), text::exact(b.right),
                                   text::exact(b.top), by_shade(b) ? text::exact(b.shade) : "", b.label, b.bar});
    }
    return out;
}

std::string as_json(const Figure& f) {
    Json j = {{"schema", "tilescope.plot/1"}, {"name", f.name},       {"title", f.title},
              {"caption", caption_of(f)},     {"command", f.command}, {"panels", Json::array()}};
    for (const Panel& p : f.panels) j["panels"].push_back(panel(p));
    return j.dump(2) + "\n";
}

}  // namespace tilescope::lab
