#include "lab/workload/model_presets.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/machine/error.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using json = nlohmann::ordered_json;

using ModelMember = std::variant<Index ModelShape::*, std::optional<Index> ModelShape::*,
                                 std::optional<double> ModelShape::*, std::string ModelShape::*>;

struct ModelField {
    const char* key;
    ModelMember member;
};

const ModelField model_fields[] = {{"heads", &ModelShape::heads}, {"kv_heads", &ModelShape::kv_heads},
                                   {"dim", &ModelShape::dim},     {"dim_v", &ModelShape::dim_v},
                                   {"scale", &ModelShape::scale}, {"dtype", &ModelShape::dtype},
                                   {"seq", &ModelShape::seq}};

template <class T>
void store(T& to, const json& value) {
    to = value.get<T>();
}
template <class T>
void store(std::optional<T>& to, const json& value) {
    to = value.get<T>();
}

/// Stores one number in each of the shapes that have it.
void read_number(Model& model, const std::string& phase, const std::string& key, const json& number,
                 std::initializer_list<ModelShape*> shapes) {
    const auto field = std::find_if(std::begin(model_fields), std::end(model_fields),
                                    [&](const ModelField& f) { return key == f.key; });
    if (field == std::end(model_fields)) throw BadValue("model", model.name, message("model_presets.unknown_key", key));
    const json& value = number.at("value");
    for (ModelShape* shape : shapes) std::visit([&](auto member) { store(shape->*member, value); }, field->member);
    model.numbers.push_back({phase + key, value.is_string() ? value.get<std::string>() : value.dump(),
                             number.at("source").get<std::string>(), number.value("confirmed", true)});
}

Model read_model(std::string_view text) {
    const auto file = nlohmann::ordered_json::parse(text);
    Model m;
    m.name = file.at("name"), m.title = file.at("title"), m.note = file.value("note", "");
    m.json = text;
    for (const auto& [key, value] : file.items()) {
        if (key == "schema" || key == "name" || key == "title" || key == "note") continue;
        if (key != name_of(Phase::prefill) && key != name_of(Phase::decode)) {
            read_number(m, "", key, value, {&m.prefill, &m.decode});
            continue;
        }
        ModelShape& shape = key == name_of(Phase::decode) ? m.decode : m.prefill;
        for (const auto& [own, number] : value.items()) read_number(m, key + '.', own, number, {&shape});
    }
    return m;
}

}  // namespace

const char* name_of(Phase phase) { return phase == Phase::decode ? "decode" : "prefill"; }

const std::vector<Model>& models() {
    static const std::vector<Model> all = [] {
        std::vector<Model> read;
        for (const EmbeddedFile& file : embedded_models()) read.push_back(read_model(file.text));
        sort_stably(read, [](const Model& a, const Model& b) { return a.name < b.name; });
        return read;
    }();
    return all;
}

std::vector<std::string> model_names() {
    std::vector<std::string> names;
    for (const Model& m : models()) names.push_back(m.name);
    return names;
}

const Model& model_named(std::string_view name) {
    const auto names = model_names();
    const auto meant = text::meant(name, names);
    if (meant.size() > 1)
        throw BadValue("model", text::shown(name), message("model_presets.several", text::join(meant, ", ")));
    if (meant.empty()) {
        const std::string all = text::join(names, ", ");
        const auto near = text::nearest(name, names);
        throw BadValue("model", text::shown(name),
                       near ? message("model_presets.misspelt", *near, all) : message("model_presets.unknown", all));
    }
    return *std::find_if(models().begin(), models().end(), [&](const Model& m) { return m.name == meant[0]; });
}

}  // namespace tilescope::lab
