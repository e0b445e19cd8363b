#include "lab/gpu/asked.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "core/machine/dtypes.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_names.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr const char* limits = "docs/model-limits.md";
constexpr const char* gpu_files = "docs/gpus.md";
constexpr const char* masks = "docs/glossary.md";

struct AskedFor {
    Asked what;
    const char* words;     ///< in the plain form that is compared; a * stands for any ending
    const char* there_is;  ///< the id of a message
    /// Arguments of `tilescope` that come closest. {8}: the typed number, or 8; {7=-1}: the typed number less 1, or 7;
    /// {f16=dtype} and {A100=gpu}: the typed type or GPU, or this one.
    const char* closest;
    const char* page;  ///< says what is not modelled; nullptr where the word only has another name here
};

constexpr AskedFor asked_words[] = {
    {Asked::algorithm, "fa3 fav3 flash3 flashattn3 flashattnv3 flashattention3", "asked.fa3", "run flash_v3", nullptr},
    {Asked::algorithm, "flashv3*", "asked.fa3_backward", "run flash_v2_backward --gpu H100", limits},
    {Asked::algorithm, "flashv4* fa4 fav4 flash4 flashattn4 flashattnv4 flashattention4", "asked.fa4",
     "run flash_v2 --gpu B200", limits},
    {Asked::algorithm, "fav1 flash1 flashattn1 flashattention1", "asked.fa1", "run flash_v1", nullptr},
    {Asked::algorithm, "fa fav2 flash flash2 flashattn flashattn2 flashattention flashattention2", "asked.fa2",
     "run flash_v2", nullptr},
    {Asked::algorithm, "flashdecoding* flashdecode lean leanattention streamk", "asked.flash_decoding",
     "run split_kv --seq-q 1 --seq-k 32k", nullptr},
    {Asked::algorithm, "paged pagedattention vllm", "asked.paged", "run split_kv --seq-q 1 --page-size 16", limits},
    {Asked::algorithm, "mla flashmla", "asked.mla", "run split_kv --model deepseek-v3 --phase decode", limits},
    {Asked::algorithm, "sdpa pytorch torch", "asked.pytorch", "run pytorch-2.11", nullptr},
    {Asked::algorithm, "naive vanilla unfused attention mha", "asked.unfused", "run standard", nullptr},
    {Asked::algorithm, "cutlass memeff memoryefficientattention", "asked.xformers", "run memory_efficient", nullptr},
    {Asked::algorithm, "cudnn", "asked.cudnn", "run cudnn-9.19", nullptr},
    {Asked::algorithm, "triton", "asked.triton", "run triton-pipelined", nullptr},
    {Asked::algorithm, "flashinfer thunderkittens", "asked.libraries", "run flash_v2", limits},
    {Asked::algorithm, "flex flexattention sparse sparseattention bigbird nsa moba dsa", "asked.block_sparse",
     "run flash_v2 --block-mask band:2", masks},
    {Asked::algorithm, "ring ringattention striped zigzag ulysses tree treeattention", "asked.ring",
     "run flash_v2 --seq-q 1k --seq-k 8k", limits},
    {Asked::algorithm, "sage sageattention* int8attention", "asked.sage", "run flash_v2", limits},
    {Asked::algorithm, "linear linearattention performer linformer gla mamba retnet lightning",
     "asked.linear_attention", "run standard", limits},
    {Asked::algorithm, "backward bwd", "asked.backward_names", "run flash_v2_backward", nullptr},

    {Asked::dtype, "fp8e5m2* float8e5m2*", "asked.e5m2", "run flash_v2 --dtype e5m2", nullptr},
    {Asked::dtype, "fp8 f8 e4m3fn fp8e4m3* float8*", "asked.e4m3", "run flash_v2 --dtype e4m3", nullptr},
    {Asked::dtype, "int8 s8 u8 uint8", "asked.int8", "run flash_v2 --kv-dtype i8", nullptr},
    {Asked::dtype, "fp4 nvfp4 mxfp4 mxfp8 fp6 int4 i4 nf4", "asked.small_types", "run flash_v2 --dtype e4m3 --dim 32",
     limits},
    {Asked::dtype, "fp16 float16 half", "asked.f16", "run flash_v2 --dtype f16", nullptr},
    {Asked::dtype, "bfloat16 bfp16 brainfloat16", "asked.bf16", "run flash_v2 --dtype bf16", nullptr},
    {Asked::dtype, "fp32 float32 float single", "asked.f32", "run flash_v2 --dtype f32", nullptr},
    {Asked::dtype, "tf32", "asked.tf32", "run flash_v2 --dtype f32", limits},
    {Asked::dtype, "f64 fp64 float64 double", "asked.f64", "run flash_v2 --dtype f32", limits},

    {Asked::gpu,
     "l2 l4 l20 l40 l40s l40g 6000ada rtx6000ada* rtx5880ada* rtx5000ada* rtx4500ada* rtx4000ada* rtx2000ada* rtx4090d "
     "rtx4090laptop* rtx4080* rtx4070* rtx4060* rtx4050*",
     "asked.ada", "run flash_v2 --gpu RTX-4090", gpu_files},
    {Asked::gpu, "a2 a10 a10g a16 a40 a6000 rtxa* rtx3090ti* rtx3080* rtx3070* rtx3060* rtx3050*", "asked.ampere",
     "run flash_v2 --gpu RTX-3090", gpu_files},
    {Asked::gpu, "a100pcie a100pcie40gb", "asked.a100_pcie", "run flash_v2 --gpu A100-40GB", gpu_files},
    {Asked::gpu, "a30", "asked.a30", "run flash_v2 --gpu A100-40GB --sms 56 --hbm-bandwidth 933", gpu_files},
    {Asked::gpu, "a10080gbpcie* a100pcie80gb* a80080gbpcie* a800pcie80gb*", "asked.a100_80gb_pcie",
     "run flash_v2 --gpu A100-80GB --hbm-bandwidth 1935", gpu_files},
    {Asked::gpu, "a80040gb* a800sxm440gb* a800pcie40gb*", "asked.a800", "run flash_v2 --gpu A100-40GB", gpu_files},
    {Asked::gpu, "a800*", "asked.a800", "run flash_v2 --gpu A100-80GB", gpu_files},
    {Asked::gpu, "a100x a100sxm64gb* a10064gb*", "asked.a100_other", "run flash_v2 --gpu A100-80GB", gpu_files},
    {Asked::gpu, "quadrogv100 gv100", "asked.gv100", "run flash_v2 --gpu V100 --hbm-bandwidth 870", gpu_files},
    {Asked::gpu, "titanv", "asked.titan_v", "run flash_v2 --gpu V100 --hbm-bandwidth 653", gpu_files},
    {Asked::gpu, "v100s v100s32gb* v100spcie*", "asked.v100s", "run flash_v2 --gpu V100 --hbm-bandwidth 1134",
     gpu_files},
    {Asked::gpu, "v10032gb v100sxm232gb* v100sxm332gb* v100pcie* v100fhhl* v100dgxs*", "asked.v100_other",
     "run flash_v2 --gpu V100", gpu_files},
    {Asked::gpu, "p100* quadrogp100 p40* p6 p4 k80 k40* k20* k10 m60* m40* m10* m6 teslam6 teslam4", "asked.pascal",
     "run flash_v2 --dtype f32 --gpu V100", gpu_files},
    {Asked::gpu, "h200nvl*", "asked.h200_nvl", "run flash_v2 --gpu H200", gpu_files},
    {Asked::gpu, "h203e*", "asked.h203e", "run flash_v2 --gpu H200 --sms 78", gpu_files},
    {Asked::gpu, "h20 h2096gb*", "asked.h20", "run flash_v2 --gpu H100-SXM --sms 78 --hbm-bandwidth 4000", gpu_files},
    {Asked::gpu, "h100pcie* h10080gbpcie* h800pcie* h80080gbpcie*", "asked.h100_pcie",
     "run flash_v2 --gpu H100-SXM --sms 114 --hbm-bandwidth 2000", gpu_files},
    {Asked::gpu, "h100nvl* h10094gb*", "asked.h100_nvl", "run flash_v2 --gpu H100-SXM --hbm-bandwidth 3900", gpu_files},
    {Asked::gpu, "h800nvl* h100cnx* h10064gb* h10096gb*", "asked.h100_other", "run flash_v2 --gpu H100-SXM", gpu_files},
    {Asked::gpu, "h800*", "asked.h800", "run flash_v2 --gpu H100-SXM", gpu_files},
    {Asked::gpu, "gh200144g*", "asked.gh200_144gb", "run flash_v2 --gpu H200 --hbm-bandwidth 4900", gpu_files},
    {Asked::gpu, "gh200*", "asked.gh200", "run flash_v2 --gpu H100-SXM --hbm-bandwidth 4000", gpu_files},
    {Asked::gpu, "b100 gb200*", "asked.b100", "run flash_v2 --gpu B200", gpu_files},
    {Asked::gpu, "b300* gb300*", "asked.b300", "run flash_v2 --gpu B200", gpu_files},
    {Asked::gpu, "5090 rtx5090* rtx5080* rtx5070* rtx5060* rtxpro*", "asked.blackwell", "run flash_v2 --gpu RTX-4090",
     gpu_files},
    {Asked::gpu, "rtx2080* rtx2070* rtx2060* titanrtx quadrortx* t4g", "asked.turing", "run flash_v2 --gpu T4",
     gpu_files},
    {Asked::gpu, "mi250*", "asked.mi250", "run flash_v2 --gpu H100 --sms 208 --sram 64 --hbm-bandwidth 3277",
     gpu_files},
    {Asked::gpu, "mi100 mi210", "asked.mi210", "run flash_v2 --gpu H100 --sms 104 --sram 64 --hbm-bandwidth 1638",
     gpu_files},
    {Asked::gpu, "mi300* mi325x mi350x mi355x rx7900* w7900", "asked.mi300",
     "run flash_v2 --gpu H100 --sms 304 --sram 64 --hbm-bandwidth 5300", gpu_files},
    {Asked::gpu,
     "apple* m1 m1pro* m1max* m1ultra* m2 m2pro* m2max* m2ultra* "
     "m3 m3pro* m3max* m3ultra* m4 m4pro* m4max* m4ultra* m5 m5pro* m5max* m5ultra*",
     "asked.apple", "run flash_v2 --sms 40 --sram 32 --hbm-bandwidth 400", gpu_files},
    {Asked::gpu, "tpu* trainium* trn1 trn2 inferentia* gaudi* cpu", "asked.no_sms", "run flash_v2 --sms 8 --sram 1024",
     gpu_files},

    {Asked::flag, "slidingwindow swa window windowsize localwindow localwindowsize attentionwindow", "asked.window",
     "run flash_v2 --seq 16k --causal --window-left {255=-1}", masks},
    {Asked::flag, "varlen cuseqlens cuseqlensq cuseqlensk ragged jagged seqlens", "asked.varlen",
     "run flash_v2 --documents 300+200+524", limits},
    {Asked::flag,
     "ring ringattention contextparallel cp sequenceparallel sp tensorparallel tensorparallelsize tp tpsize "
     "worldsize numgpus ngpus",
     "asked.share_of_gpu", "run flash_v2 --heads 8", limits},
    {Asked::flag, "fp8", "asked.e4m3", "run flash_v2 --dtype e4m3", nullptr},
    {Asked::flag, "kvcachedtype kvcachequant*", "asked.kv_dtype", "run flash_v2 --kv-dtype {e4m3=dtype}", nullptr},
    {Asked::flag, "int8", "asked.int8", "run flash_v2 --kv-dtype i8", nullptr},
    {Asked::flag, "quantize quantization quantized", "asked.kv_dtype", "run flash_v2 --kv-dtype {e4m3=dtype}", nullptr},
    {Asked::flag, "fp4", "asked.small_types", "run flash_v2 --dtype e4m3 --dim 32", limits},
    {Asked::flag, "sink sinks attentionsink attentionsinks headsink", "asked.sink",
     "run flash_v2 --bias hk --seq-q 1024 --seq-k 1025", limits},
    {Asked::flag, "stages numstages pipelinestages", "asked.stages", "run flash_v3 --slots 4", nullptr},
    {Asked::flag, "numwarps", "asked.warps", "explain flash_v2 --warps {8}", limits},
    {Asked::flag, "pingpong", "asked.pingpong", "run flash_v3 --turns on", nullptr},
    {Asked::flag, "warpspecialization warpspecialize", "asked.specialised", "run flash_v3 --specialised on", nullptr},
    {Asked::flag, "tma wgmma", "asked.fa3_means", "run flash_v3", nullptr},
    {Asked::flag, "mask attnmask attentionmask maskfile attnbias", "asked.mask_file", "run flash_v2 --bias qk", masks},
    {Asked::flag, "iscausal causalmask", "asked.causal", "run flash_v2 --causal", masks},
    {Asked::flag, "topleft upperleft topleftcausal", "asked.top_left",
     "run flash_v2 --seq-q 1024 --seq-k 512 --window-right 512", masks},
    {Asked::flag, "kvcache decode decoding", "asked.decode", "run split_kv --seq-q 1 --seq-k 32k", nullptr},
    {Asked::flag, "gqa mqa", "asked.kv_heads", "run flash_v2 --kv-heads 2", nullptr},
    {Asked::flag, "numkvheads nkvheads numkeyvalueheads kvhead kvheads", "asked.kv_heads",
     "run flash_v2 --heads 32 --kv-heads {8}", nullptr},
    {Asked::flag, "numheads nheads nhead numattentionheads numqueryheads qheads", "asked.heads",
     "run flash_v2 --heads {8}", nullptr},
    {Asked::flag, "headdim headsize dhead headdimension dk", "asked.dim", "run flash_v2 --dim {64}", nullptr},
    {Asked::flag, "embeddim hiddensize hiddendim dmodel modeldim", "asked.hidden_size",
     "run flash_v2 --model llama-3-8b", nullptr},
    {Asked::flag, "seqlenq qlen querylen nq", "asked.seq_q", "run flash_v2 --seq-q {1024}", nullptr},
    {Asked::flag, "seqlenk seqlenkv kvlen kvseqlen keylen nk", "asked.seq_k", "run flash_v2 --seq-k {1024}", nullptr},
    {Asked::flag, "bf16 bfloat16", "asked.dtype", "run flash_v2 --dtype bf16", nullptr},
    {Asked::flag, "fp16 half float16", "asked.dtype", "run flash_v2 --dtype f16", nullptr},
    {Asked::flag, "fp32 float32", "asked.dtype", "run flash_v2 --dtype f32", nullptr},
    {Asked::flag, "layers nlayers numlayers nlayer", "asked.layers", "run flash_v2 --model llama-3-8b", limits},
    {Asked::flag, "attnmask attentionmask mask", "asked.mask", "run flash_v2 --causal", masks},
    {Asked::flag, "contextlength context ctx ctxlen nctx maxseqlen maxmodellen sequencelength promptlen promptlength",
     "asked.seq", "run flash_v2 --seq {4096}", nullptr},
    {Asked::flag, "pageblocksize", "asked.page_size", "run flash_v2 --page-size {16}", nullptr},
    {Asked::flag, "blockm blockq", "asked.br", "run flash_v2 --br {64}", nullptr},
    {Asked::flag, "blockn blockk", "asked.bc", "run flash_v2 --bc {64}", nullptr},
    {Asked::flag, "blocksize tile tilesize", "asked.tiles", "run flash_v2 --br {64} --bc {64}", nullptr},
    {Asked::flag, "precision", "asked.dtype", "run flash_v2 --dtype {bf16=dtype}", nullptr},
    {Asked::flag, "device", "asked.gpu", "run flash_v2 --gpu {A100=gpu}", nullptr},
    {Asked::flag, "softmaxscale smscale", "asked.scale", "run flash_v2 --scale {0.125}", nullptr},
    {Asked::flag, "rope rotary qknorm", "asked.rope", "run flash_v2", limits},
    {Asked::flag, "backward bwd training", "asked.backward", "run flash_v2_backward", nullptr},
};

/// Whether a plain word is one of the listed ones.
bool among(std::string_view listed, std::string_view word) {
    while (!listed.empty()) {
        const std::string_view one = listed.substr(0, listed.find(' '));
        listed.remove_prefix(std::min(listed.size(), one.size() + 1));
        if (one == word || (one.ends_with('*') && word.starts_with(one.substr(0, one.size() - 1)))) return true;
    }
    return false;
}

/// A number above 0 as flags take it: "32k" where it is whole, "1e-3" where it need not be.
bool is_number(std::string_view typed, bool whole) {
    Index n = 0;
    if (typed.size() > 16) return false;
    if (whole) return text::to_whole(typed, n) == std::errc() && n > 0 && n <= Index{1} << 40;
    return text::to_number(typed).value_or(0) > 0;
}

}  // namespace

std::string dtype_called(std::string_view typed) {
    if (dtype_from(typed)) return std::string(typed);
    for (const AskedFor& k : asked_words)
        if (k.what == Asked::dtype && !k.page && among(k.words, text::plain(typed.substr(0, 60))))
            return std::string(std::string_view(k.closest).substr(std::string_view(k.closest).rfind(' ') + 1));
    return "";
}

namespace {

/// The typed value, if the placeholder `usual` ("8", "7=-1", "bf16=dtype") can take it, or else its usual value.
std::string in_place_of(std::string_view usual, std::string_view typed) {
    const std::size_t kind = std::min(usual.find('='), usual.size());
    const std::string_view how = usual.substr(kind);
    usual = usual.substr(0, kind);
    std::string value(usual);
    if (how == "=dtype") {
        if (const std::string name = dtype_called(typed); !name.empty()) value = name;
    } else if (how == "=gpu") {
        const auto meant = presets_meant(typed, gpu_preset_names());
        if (meant.size() == 1) value = meant[0];
    } else if (is_number(typed, usual.find('.') == usual.npos)) {
        Index n = 0;
        if (how == "=-1") text::to_whole(typed, n);
        value = how == "=-1" ? std::to_string(n - 1) : std::string(typed);
    }
    return value;
}

/// The command with the typed value in its placeholders.
std::string with_typed(std::string_view closest, std::string_view typed) {
    std::string command;
    for (std::size_t open = 0; (open = closest.find('{')) != closest.npos;) {
        const std::size_t end = closest.find('}');
        command += std::string(closest.substr(0, open)) + in_place_of(closest.substr(open + 1, end - open - 1), typed);
        closest.remove_prefix(end + 1);
    }
    return command + std::string(closest);
}

/// The entry of a word; nullptr where the word is unknown.
const AskedFor* asked_for(Asked what, std::string_view typed) {
    const std::string word = text::plain(typed.substr(0, 60));
    if (word.empty()) return nullptr;
    for (const AskedFor& k : asked_words)
        if (k.what == what && among(k.words, word)) return &k;
    return nullptr;
}

}  // namespace

std::string instead_of(Asked what, std::string_view typed, std::string_view value, const std::string& own) {
    const AskedFor* k = asked_for(what, typed);
    if (!k) return "";
    const std::string command = own.empty() || k->page ? "tilescope " + with_typed(k->closest, value) : own;
    const std::string there_is = message(k->there_is);
    return k->page ? message("asked.try_and_see", there_is, command, k->page) : message("asked.try", there_is, command);
}

Renamed renamed(std::string_view flag, std::string_view value) {
    constexpr std::string_view command = "run flash_v2 ";
    const AskedFor* k = asked_for(Asked::flag, flag);
    if (!k || k->page || !std::string_view(k->closest).starts_with(command)) return {};
    std::istringstream flags{std::string(std::string_view(k->closest).substr(command.size()))};
    std::vector<std::string> all, typed;  // typed: flags with a placeholder for the value
    for (std::string name, usual; flags >> name >> usual;) {
        const std::string here = with_typed(usual, value);
        all.insert(all.end(), {name, here});
        if (usual.starts_with('{')) typed.insert(typed.end(), {name, here});
    }
    if (!typed.empty()) return {typed, true};
    return all.size() == 2 ? Renamed{all, false} : Renamed{};
}

}  // namespace tilescope::lab
