// Names of GPUs: presets have several, and drivers print others.
#include "lab/gpu/gpu_names.hpp"

#include "lab/gpu/gpu_presets.hpp"
#include "tests/lab/gpu_checks.hpp"

using namespace tilescope;
using namespace tilescope::lab;

TEST_CASE("a name may be typed in many ways", "[gpu]") {
    const std::vector<std::pair<std::string, std::string>> typed = {{"A100-40GB", "A100-40GB"},
                                                                    {"a100-40gb", "A100-40GB"},
                                                                    {"A100 40GB", "A100-40GB"},
                                                                    {"a100_40", "A100-40GB"},
                                                                    {"a100", "A100-40GB"},
                                                                    {"A100", "A100-40GB"},
                                                                    {"a100-8", "A100-80GB"},
                                                                    {"RTX 3090", "RTX-3090"},
                                                                    {"rtx4", "RTX-4090"},
                                                                    {"h100", "H100-SXM"},
                                                                    {"h100 sxm", "H100-SXM"},
                                                                    {"h2", "H200"},
                                                                    {"b", "B200"},
                                                                    {"v", "V100"},
                                                                    {"T4", "T4"},
                                                                    {" t4 ", "T4"},
                                                                    {"TOY", "toy"},
                                                                    {"to", "toy"}};
    for (const auto& [name, meant] : typed) {
        CAPTURE(name);
        CHECK(gpu_preset(name).name == meant);
        CHECK(load_gpu(name).name == meant);
    }
}

TEST_CASE("what drivers call a device is understood", "[gpu]") {
    const std::vector<std::pair<std::string, std::string>> printed = {{"NVIDIA H100 80GB HBM3", "H100-SXM"},
                                                                      {"NVIDIA A100-SXM4-40GB", "A100-40GB"},
                                                                      {"A100-SXM4-40GB", "A100-40GB"},
                                                                      {"NVIDIA A100-SXM4-80GB", "A100-80GB"},
                                                                      {"A100-SXM-80GB", "A100-80GB"},
                                                                      {"NVIDIA A100-SXM-40GB", "A100-40GB"},
                                                                      {"NVIDIA H200", "H200"},
                                                                      {"NVIDIA B200", "B200"},
                                                                      {"NVIDIA GeForce RTX 4090", "RTX-4090"},
                                                                      {"GeForce RTX 3090", "RTX-3090"},
                                                                      {"Tesla V100-SXM2-16GB", "V100"},
                                                                      {"Tesla T4", "T4"},
                                                                      {"NVIDIA T4", "T4"},
                                                                      {"H100 80GB", "H100-SXM"},
                                                                      {"nvidia_h100_80gb_hbm3", "H100-SXM"},
                                                                      {"v100 sxm2", "V100"},
                                                                      {"nvidia h", ""},
                                                                      {"A100-SXM4", ""}};
    for (const auto& [name, meant] : printed) {
        CAPTURE(name);
        if (meant.empty())
            CHECK(contains(complaint([&, n = name] { load_gpu(n); }), "several GPUs begin like that"));
        else
            CHECK(load_gpu(name).name == meant);
    }
    // Another GPU of the family is refused, and the nearest preset is named.
    for (const auto& [name, closest] : std::vector<std::pair<std::string, std::string>>{
             {"NVIDIA H100 PCIe", "--gpu H100-SXM --sms 114 --hbm-bandwidth 2000"},
             {"H100 80GB PCIe", "--gpu H100-SXM --sms 114"},
             {"NVIDIA H100 NVL", "--gpu H100-SXM --hbm-bandwidth 3900"},
             {"NVIDIA H100 96GB HBM3", "--gpu H100-SXM"},
             {"NVIDIA H800", "--gpu H100-SXM"},
             {"NVIDIA H800 PCIe", "--gpu H100-SXM --sms 114"},
             {"NVIDIA H20", "--gpu H100-SXM --sms 78 --hbm-bandwidth 4000"},
             {"NVIDIA H20-3e", "--gpu H200 --sms 78"},
             {"NVIDIA GH200 480GB", "--gpu H100-SXM --hbm-bandwidth 4000"},
             {"NVIDIA GH200 144G HBM3e", "--gpu H200 --hbm-bandwidth 4900"},
             {"NVIDIA A800-SXM4-80GB", "--gpu A100-80GB"},
             {"NVIDIA A100-PCIE-40GB", "--gpu A100-40GB"},
             {"NVIDIA A800-SXM4-40GB", "--gpu A100-40GB"},
             {"NVIDIA A100-SXM-64GB", "--gpu A100-80GB"},
             {"NVIDIA A30", "--gpu A100-40GB --sms 56 --hbm-bandwidth 933"},
             {"Quadro GV100", "--gpu V100 --hbm-bandwidth 870"},
             {"Tesla V100S-PCIE-32GB", "--gpu V100 --hbm-bandwidth 1134"},
             {"NVIDIA TITAN V", "--gpu V100 --hbm-bandwidth 653"},
             {"NVIDIA B300", "--gpu B200"},
             {"NVIDIA GeForce RTX 3080", "--gpu RTX-3090"},
             {"NVIDIA RTX A1000", "--gpu RTX-3090"},
             {"NVIDIA RTX 4000 Ada Generation", "--gpu RTX-4090"},
             {"Tesla M4", "--dtype f32 --gpu V100"},
             {"Tesla M10", "--dtype f32 --gpu V100"},
             {"Tesla M40 24GB", "--dtype f32 --gpu V100"},
             {"Tesla M60", "--dtype f32 --gpu V100"},
             {"NVIDIA H200 NVL", "--gpu H200"},
             {"NVIDIA A100 80GB PCIe", "--gpu A100-80GB --hbm-bandwidth 1935"},
             {"Tesla V100-SXM2-32GB", "--gpu V100"},
             {"Tesla V100-PCIE-16GB", "--gpu V100"},
             {"Tesla P100-PCIE-16GB", "--gpu V100"},
             {"NVIDIA L4", "--gpu RTX-4090"},
             {"NVIDIA L40S", "--gpu RTX-4090"},
             {"NVIDIA RTX 6000 Ada Generation", "--gpu RTX-4090"},
             {"NVIDIA GeForce RTX 4090 Laptop GPU", "--gpu RTX-4090"},
             {"NVIDIA GeForce RTX 5090", "--gpu RTX-4090"},
             {"NVIDIA A10G", "--gpu RTX-3090"},
             {"NVIDIA GB200", "--gpu B200"},
             {"AMD Instinct MI300X", "--gpu H100"}}) {
        const std::string message = complaint([&, n = name] { load_gpu(n); });
        CAPTURE(message);
        CHECK(contains(message, closest));
        CHECK((contains(message, "another machine") || contains(message, "not modelled")));
        CHECK(contains(message, " --json > mine.json`"));
        CHECK(!contains(message, "did you mean"));
    }
    for (const char* other : {"H100 96GBX", "H10080GX", "X100-80GB", "C100-40GB"})
        CHECK(!contains(complaint([&] { load_gpu(other); }), "mean A100"));
}

TEST_CASE("what is not of SMs has no closest GPU", "[gpu]") {
    for (const char* name : {"M1", "m4 max", "Apple M2 Ultra", "M3 Pro 18-core", "TPUv5e"}) {
        const std::string message = complaint([&] { load_gpu(name); });
        CAPTURE(message);
        CHECK(contains(message, name[0] == 'T' ? "only GPUs of SMs are modelled" : "Apple's cores are not modelled"));
        CHECK(contains(message, "the path of a .json file works too"));
    }
}

TEST_CASE("a MIG slice is not the whole GPU", "[gpu]") {
    for (const auto& [name, closest] : std::vector<std::pair<std::string, std::string>>{
             {"NVIDIA A100-SXM4-40GB MIG 1g.5gb",
              "run flash_v2 --gpu A100-40GB --sms 14 --l2-bytes 5M --hbm-bandwidth 194`"},
             {"NVIDIA H100 80GB HBM3 MIG 3g.40gb",
              "run flash_v2 --gpu H100-SXM --sms 56 --l2-bytes 25M --hbm-bandwidth 1675`"},
             {"NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", "--gpu H100-SXM --sms 18 --l2-bytes 25M --hbm-bandwidth 1675`"},
             {"nvidia_h200_mig_7g.141gb", "--gpu H200 --sms 132 --l2-bytes 60M --hbm-bandwidth 4800`"},
             {"A100-80GB 1g.10gb+me", "--gpu A100-80GB --sms 14 --l2-bytes 5M --hbm-bandwidth 255`"},
             {"H100 MIG", "the whole one is --gpu H100-SXM;"},
             {"NVIDIA H100 PCIe MIG 1g.10gb", "the path of a .json file works too"},
             {"1g.5gb", "the path of a .json file works too"}}) {
        const std::string message = complaint([&, n = name] { load_gpu(n); });
        CAPTURE(message);
        CHECK(contains(message, "a MIG slice is another machine than the whole GPU"));
        CHECK(contains(message, closest));
        CHECK(!contains(message, "did you mean"));
    }
    for (const char* none : {"NVIDIA H100 80GB HBM3", "9g.5gb", "0g.5gb", "4c.3g.40gb", "1g.gb", "midi", ""})
        CHECK(!mig_slice(none));
}

TEST_CASE("an unknown or ambiguous name is answered with the names", "[gpu]") {
    const std::vector<std::pair<std::string, std::string>> meant = {
        {"h300", "H200"},       {"4090", "RTX-4090"}, {"h100-sxm5", "H100-SXM"},
        {"a1000", "A100-40GB"}, {"b2000", "B200"},    {"rtx 3091", "RTX-3090"},
        {"tony", "toy"}};
    for (const auto& [typed, nearest] : meant) {
        const std::string message = complaint([&, name = typed] { gpu_preset(name); });
        CAPTURE(message);
        CHECK(message.starts_with("gpu " + typed + ": unknown GPU, did you mean " + nearest + "?"));
        for (const auto& name : gpu_preset_names()) CHECK(contains(message, name));
    }
    const std::string rtx = complaint([] { gpu_preset("rtx"); });
    CHECK(contains(rtx, "write one of RTX-3090, RTX-4090"));
    CHECK(contains(complaint([] { gpu_preset("h"); }), "write one of H100-SXM, H200"));
    CHECK(contains(complaint([] { gpu_preset(""); }), "unknown GPU"));
    CHECK(contains(complaint([] { gpu_preset(" - "); }), "unknown GPU"));
    CHECK(contains(complaint([] { gpu_preset("evil\n\x1b[31m"); }), R"('evil\n\x1b[31m')"));
    CHECK(contains(complaint([] { gpu_preset(std::string(1'000'000, 'x')); }), "xxx...xxx"));
}
