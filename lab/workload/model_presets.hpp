// The language models that TileScope knows by name: the shape of one layer's attention in each phase of inference.
//
// models/*.json are their files, where every number has a source. A number that is absent follows from the others, as
// with flags: as many heads of K and V as of Q, dim_v like dim, a scale of 1/sqrt(dim). "prefill" and "decode" hold the
// numbers that differ in that phase. docs/models.md explains the files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/units.hpp"
#include "core/text/embedded.hpp"

namespace tilescope::lab {

/// Prefill takes a whole prompt at once; decode adds one token to it.
enum class Phase : std::uint8_t { prefill, decode };
constexpr Phase phases[] = {Phase::prefill, Phase::decode};
const char* name_of(Phase phase);

/// One layer's attention. A member that is absent follows from the others.
struct ModelShape {
    Index heads = 0, dim = 0;
    std::optional<Index> kv_heads, dim_v;
    std::optional<double> scale;
    std::string dtype;
    Index seq = 0;  ///< the length of the context where none is given

    friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// One number of a model for people to read.
struct ModelNumber {
    std::string key;  ///< "heads"; "decode.dim" where the number holds in one phase only
    std::string value, source;
    bool confirmed = true;
};

struct Model {
    std::string name, title;
    std::string note;  ///< what is special about the model, in sentences; empty: nothing
    ModelShape prefill, decode;
    std::vector<ModelNumber> numbers;
    std::string_view json;  ///< its file

    const ModelShape& in(Phase phase) const { return phase == Phase::decode ? decode : prefill; }
};

/// The files of models/*.json, in no particular order.
std::span<const EmbeddedFile> embedded_models();

/// All models, sorted by name.
const std::vector<Model>& models();
std::vector<std::string> model_names();

/// The model of that name. Case, spaces, dashes and underscores do not matter, and the beginning of a name is enough if
/// it is the beginning of only one: "mistral", "Llama-3 8B". Throws UsageError, which lists the names and suggests the
/// nearest.
const Model& model_named(std::string_view name);

}  // namespace tilescope::lab
