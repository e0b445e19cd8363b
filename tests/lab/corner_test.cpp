// Causal masks from either corner.
#include "algorithms/contract/packed.hpp"
#include "algorithms/cuda/registry.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/table.hpp"
#include "lab/run/covers.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// A causal mask in rows of text: '1' where a query sees a key.
std::vector<std::string> mask_of(Index queries, Index keys, const char* corner) {
    Options o;
    o.seq_q = queries, o.seq_k = keys, o.causal = true, o.causal_corner = corner;
    const Problem p = resolve(o, computation::attention).problem;
    std::vector<std::string> rows;
    for (Index r = 0; r < queries; ++r) {
        rows.emplace_back();
        for (Index k = 0; k < keys; ++k) rows.back() += p.sees(r, k) ? '1' : '0';
    }
    return rows;
}

using Rows = std::vector<std::string>;

}  // namespace

// As documented for PyTorch's scaled_dot_product_attention: causal_upper_left and causal_lower_right.
TEST_CASE("a causal mask begins in the top left corner, or ends in the bottom right", "[mask]") {
    CHECK(mask_of(3, 5, "top-left") == Rows{"10000", "11000", "11100"});
    CHECK(mask_of(3, 5, "bottom-right") == Rows{"11100", "11110", "11111"});
    CHECK(mask_of(5, 3, "top-left") == Rows{"100", "110", "111", "111", "111"});
    CHECK(mask_of(5, 3, "bottom-right") == Rows{"000", "000", "100", "110", "111"});
    CHECK(mask_of(1, 4, "top-left") == Rows{"1000"});
    CHECK(mask_of(1, 4, "bottom-right") == Rows{"1111"});
}

TEST_CASE("of squares both corners are the same problem", "[mask]") {
    Options o;
    o.seq = 8, o.causal = true;
    const Problem bottom_right = resolve(o, computation::attention).problem;
    o.causal_corner = "top-left";
    CHECK((resolve(o, computation::attention).problem == bottom_right));
    o.seq_q = 4;
    const Problem p = resolve(o, computation::attention).problem;
    CHECK(mask_words(p) == "causal from the top left");
    CHECK(p.diagonal() == 0);
}

TEST_CASE("sentences call a mask in English what CSV calls it", "[mask]") {
    Options o;
    o.seq = 512;
    const auto mask = [&] { return resolve(o, computation::attention).problem; };
    CHECK(mask_words(mask()).empty());
    o.causal = true, o.documents = "200+312", o.block_mask = "butterfly";
    CHECK(mask_words(mask()) == "causal, 2 documents, butterfly in blocks of 128 x 128");
    CHECK(mask_words(mask()) == mask().mask.name());
    o.documents = "512", o.block_mask.clear(), o.causal = false, o.window_left = 127;
    CHECK(mask_words(mask()) == "window 127 -, 1 document");
    CHECK(mask_words(mask()) == mask().mask.name());
}

TEST_CASE("from the top left, key tiles beyond the last query are not read", "[mask]") {
    Options o;
    o.seq_q = 64, o.seq_k = 640, o.heads = 1, o.causal = true, o.br = o.bc = "64", o.dtype = "f32";
    const Algorithm& a = *find_algorithm("flash_v2");
    const auto keys_read = [&] {
        const Report r = count(experiment_of(a, resolve(o, a)));
        Bytes read = 0;
        for (const TensorReport& t : r.tensors)
            if (t.name == "K") read = t.traffic.read;
        return read / (64 * 4);
    };
    CHECK(keys_read() == 640);
    o.causal_corner = "top-left";
    CHECK(keys_read() == 64);
}

// The rows of a packed tile belong to one query, but kernels assume that each row sees one key more than the row above.
TEST_CASE("no kernel takes packed heads under a mask from the top left", "[mask][kernels]") {
    const Algorithm& a = *find_algorithm("split_kv");
    Options o;
    o.seq_q = 1, o.seq_k = 300, o.kv_heads = 2, o.dtype = "f32", o.causal = true;
    const auto served = [&] {
        const Problem p = packed(resolve(o, a).problem);
        const auto all = kernels_of(a);
        return std::any_of(all.begin(), all.end(), [&](const KernelVariant& v) { return v.serves(p); });
    };
    CHECK(served());
    o.causal_corner = "top-left";
    CHECK(!served());
}

TEST_CASE("a softmax kernel refuses each flag of attention", "[flags]") {
    const std::map<std::string, const char*> samples = {{"model", "llama-3-8b"},
                                                        {"phase", "decode"},
                                                        {"kv-heads", "2"},
                                                        {"dim", "32"},
                                                        {"dim-v", "32"},
                                                        {"causal", "true"},
                                                        {"causal-corner", "top-left"},
                                                        {"hidden-rows", "mean"},
                                                        {"window-left", "3"},
                                                        {"window-right", "3"},
                                                        {"documents", "1024"},
                                                        {"block-mask", "band:1"},
                                                        {"mask-block", "64"},
                                                        {"q-dtype", "f16"},
                                                        {"kv-dtype", "e4m3"},
                                                        {"rotate", "true"},
                                                        {"scales", "64"},
                                                        {"scores", "f32"},
                                                        {"weights", "f32"},
                                                        {"passes", "typed"},
                                                        {"scale", "1"},
                                                        {"softmax", "naive"},
                                                        {"bias", "qk"},
                                                        {"bias-group", "2"},
                                                        {"alibi", "true"},
                                                        {"soft-cap", "5"},
                                                        {"accumulator", "12"},
                                                        {"p-scale", "16"},
                                                        {"stale-max", "2"},
                                                        {"dropout", "0.5"},
                                                        {"dropout-seed", "3"},
                                                        {"dropout-mask", "stored"},
                                                        {"page-size", "16"},
                                                        {"page-order", "permuted"},
                                                        {"shared-prefix", "16"}};
    const Algorithm& softmax = *find_algorithm("softmax_safe");
    std::size_t of_attention = 0;
    for (const Flag& flag : flags()) {
        if (flag.of != FlagOf::attention) continue;
        INFO(flag.name);
        ++of_attention;
        REQUIRE(samples.count(flag.name) == 1);
        Options o;
        flag.set(o, samples.at(flag.name));
        CHECK(flag.given(o));
        CHECK_THROWS_WITH(resolve(o, softmax),
                          "--" + std::string(flag.name) + ": means nothing to a softmax kernel; leave it out");
        flag.clear(o);
        CHECK((o == Options()));
    }
    CHECK(of_attention == samples.size());
}
