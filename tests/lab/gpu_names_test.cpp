// What a GPU may be called: presets by many names, and what drivers print.
#include "lab/gpu_presets.hpp"
#include "tests/lab/gpu_complaint.hpp"

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
                                                                      {"NVIDIA A100-PCIE-40GB", "A100-40GB"},
                                                                      {"NVIDIA A100-SXM4-80GB", "A100-80GB"},
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
    // Another machine of the family is none of them, and the nearest is said.
    for (const auto& [name, closest] : std::vector<std::pair<std::string, std::string>>{
             {"NVIDIA H100 PCIe", "--gpu H100-SXM"},
             {"NVIDIA H100 NVL", "--gpu H100-SXM"},
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
        CHECK(!contains(message, "did you mean"));
    }
    for (const char* other : {"H100 96GBX", "H10080GX", "X100-80GB", "C100-40GB"})
        CHECK(!contains(complaint([&] { load_gpu(other); }), "mean A100"));
}

TEST_CASE("an unknown or ambiguous name is answered with the names", "[gpu]") {
    const std::vector<std::pair<std::string, std::string>> meant = {
        {"h300", "H200"},       {"4090", "RTX-4090"}, {"h100-sxm5", "H100-SXM"},
        {"a1000", "A100-40GB"}, {"b300", "B200"},     {"rtx 3080", "RTX-3090"},
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
