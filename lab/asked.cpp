#include "lab/asked.hpp"

#include <algorithm>

#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

constexpr const char* limits = "docs/model-limits.md";
constexpr const char* gpu_files = "docs/gpus.md";
constexpr const char* masks = "docs/glossary.md";

struct AskedFor {
    Asked what;
    const char* words;  ///< plain, as words are compared; a * stands for any end
    const char* there_is;
    const char*
        closest;  ///< the arguments of a `tilescope` that carries it out; {8}: the typed number or 8, {7=-1}: less 1
    const char* page;  ///< which says what is not modelled; nullptr where the word has another name here alone
};

constexpr AskedFor asked_words[] = {
    {Asked::algorithm, "flashv3* fa3 fav3 flash3 flashattn3 flashattnv3 flashattention3",
     "FlashAttention-3 (wgmma, TMA, specialised warps) is not modelled; the loops are those of flash_v2",
     "run flash_v2 --gpu H100", limits},
    {Asked::algorithm, "flashv4* fa4 fav4 flash4 flashattn4 flashattnv4 flashattention4",
     "FlashAttention-4 (tcgen05, tensor memory) is not modelled; the loops are those of flash_v2",
     "run flash_v2 --gpu B200", limits},
    {Asked::algorithm, "fa1 fav1 flash1 flashattn1 flashattention1", "FlashAttention-1 is flash_v1 here",
     "run flash_v1", nullptr},
    {Asked::algorithm, "fa fa2 fav2 flash flash2 flashattn flashattn2 flashattention flashattention2",
     "FlashAttention-2 is flash_v2 here", "run flash_v2", nullptr},
    {Asked::algorithm, "flashdecoding* flashdecode lean leanattention streamk",
     "decoding with the keys cut into parts is split_kv here", "run split_kv --seq-q 1 --seq-k 32k", nullptr},
    {Asked::algorithm, "paged pagedattention vllm", "K and V in pages are a part of the problem: --page-size",
     "run split_kv --seq-q 1 --page-size 16", limits},
    {Asked::algorithm, "mla flashmla", "MLA's latent K and V are read as two tensors here",
     "run split_kv --model deepseek-v3 --phase decode", limits},
    {Asked::algorithm, "sdpa pytorch torch", "PyTorch chooses among kernels; three of them are modelled",
     "compare standard memory_efficient flash_v2", limits},
    {Asked::algorithm, "naive vanilla eager math unfused attention mha", "attention in three kernels is standard here",
     "run standard", nullptr},
    {Asked::algorithm, "xformers cutlass memeff memoryefficientattention", "xformers' kernel is memory_efficient here",
     "run memory_efficient", nullptr},
    {Asked::algorithm, "cudnn triton flashinfer thunderkittens",
     "this library's own kernels are not modelled; the loops are those of flash_v2", "run flash_v2", limits},
    {Asked::algorithm, "flex flexattention sparse sparseattention bigbird nsa moba dsa",
     "blocks that are seen are a part of the problem: --block-mask", "run flash_v2 --block-mask band:2", masks},
    {Asked::algorithm, "ring ringattention striped zigzag ulysses tree treeattention",
     "several GPUs are not modelled; one GPU's share of the queries is", "run flash_v2 --seq-q 1k --seq-k 8k", limits},
    {Asked::algorithm, "sage sageattention* int8attention", "8-bit types are not modelled; the loops are flash_v2's",
     "run flash_v2", limits},
    {Asked::algorithm, "linear linearattention performer linformer gla mamba retnet lightning",
     "linear attention computes something else than softmax attention, and is not modelled", "run standard", limits},
    {Asked::algorithm, "backward bwd", "backward passes have names of their own", "run flash_v2_backward", nullptr},

    {Asked::dtype,
     "fp8 f8 e4m3 e5m2 e4m3fn fp8e4m3* fp8e5m2* float8* int8 i8 u8 uint8 fp4 nvfp4 mxfp4 mxfp8 fp6 int4 i4 nf4",
     "8-bit types and smaller ones are not modelled; f16 with half the --dim moves the bytes of 8-bit Q, K, V and O",
     "run flash_v2 --dtype f16 --dim 32", limits},
    {Asked::dtype, "fp16 float16 half", "it is f16 here", "run flash_v2 --dtype f16", nullptr},
    {Asked::dtype, "bfloat16 bfp16 brainfloat16", "it is bf16 here", "run flash_v2 --dtype bf16", nullptr},
    {Asked::dtype, "fp32 float32 float single", "it is f32 here", "run flash_v2 --dtype f32", nullptr},
    {Asked::dtype, "tf32", "products in tf32 are not modelled; those of f32 run on CUDA cores",
     "run flash_v2 --dtype f32", limits},
    {Asked::dtype, "f64 fp64 float64 double", "f64 is not modelled; the reference that outputs are compared with is",
     "run flash_v2 --dtype f32", limits},

    {Asked::gpu, "l2 l4 l20 l40 l40s l40g 6000ada rtx6000ada* rtx4090d rtx4090laptop* rtx4080* rtx4070*",
     "no preset; an RTX-4090 is of the same generation, Ada", "run flash_v2 --gpu RTX-4090", gpu_files},
    {Asked::gpu, "a10 a10g a16 a40 a6000 rtxa6000 rtxa5000 rtxa4000 rtx3090ti",
     "no preset; an RTX-3090 is of the same generation, Ampere", "run flash_v2 --gpu RTX-3090", gpu_files},
    {Asked::gpu, "a30 a800*", "no preset; an A100 has the same SMs", "run flash_v2 --gpu A100-80GB", gpu_files},
    {Asked::gpu, "a10080gbpcie a100pcie80gb a100x", "no preset; an A100-80GB with its 1935 GB/s is",
     "run flash_v2 --gpu A100-80GB --hbm-bandwidth 1935", gpu_files},
    {Asked::gpu, "v10032gb v100sxm232gb* v100sxm332gb* v100pcie* v100fhhl* v100dgxs* v100s v100spcie* titanv gv100",
     "no preset; a V100 of 16 GB with NVLink has the same SMs", "run flash_v2 --gpu V100", gpu_files},
    {Asked::gpu, "p100* p40 p4 k80 m40 m60", "no preset, and no tensor cores; a V100 is the next generation",
     "run flash_v2 --dtype f32 --gpu V100", gpu_files},
    {Asked::gpu, "h200nvl", "no preset; an H200 has the same SMs, at higher clocks", "run flash_v2 --gpu H200",
     gpu_files},
    {Asked::gpu, "h20", "no preset; an H100 with its 78 SMs and 4 TB/s, not with its lower rate, is",
     "run flash_v2 --gpu H100 --sms 78 --hbm-bandwidth 4000", gpu_files},
    {Asked::gpu, "h100pcie* h100nvl* h10064gb* h10094gb* h10096gb* h800* gh200*",
     "no preset; an H100-SXM has the same SMs, and more or fewer of them", "run flash_v2 --gpu H100-SXM", gpu_files},
    {Asked::gpu, "b100 gb200 gb300", "no preset; a B200 has the same SMs", "run flash_v2 --gpu B200", gpu_files},
    {Asked::gpu, "5090 rtx5090* rtx5080* rtxpro6000*", "no preset; an RTX-4090 has as much SRAM in a thread block",
     "run flash_v2 --gpu RTX-4090", gpu_files},
    {Asked::gpu, "rtx2080* titanrtx quadrortx*", "no preset; a T4 is of the same generation, Turing",
     "run flash_v2 --gpu T4", gpu_files},
    {Asked::gpu, "mi100 mi210 mi250* mi300* mi325x mi350x mi355x rx7900* w7900",
     "AMD's compute units are not modelled; SMs with as much SRAM and bandwidth as an MI300X's move the same bytes",
     "run flash_v2 --gpu H100 --sms 304 --sram 64 --hbm-bandwidth 5300", gpu_files},
    {Asked::gpu, "tpu* trainium* trn1 trn2 inferentia* gaudi* m1* m2* m3* m4* cpu",
     "only GPUs of SMs are modelled; few SMs with much SRAM move the bytes of such a machine",
     "run flash_v2 --sms 8 --sram 1024", gpu_files},

    {Asked::flag, "slidingwindow swa window windowsize localwindow localwindowsize attentionwindow",
     "a window of W keys, the query's own among them, is --causal --window-left W-1",
     "run flash_v2 --causal --window-left {255=-1}", masks},
    {Asked::flag, "varlen cuseqlens cuseqlensq cuseqlensk ragged jagged seqlens",
     "sequences packed one after the other are --documents; tiles do not begin anew in each, as varlen kernels' do",
     "run flash_v2 --documents 300+200+524", limits},
    {Asked::flag,
     "ring ringattention contextparallel cp sequenceparallel sp tensorparallel tensorparallelsize tp tpsize "
     "worldsize numgpus ngpus",
     "several GPUs are not modelled; the share of one is, as with the --heads divided by their number",
     "run flash_v2 --heads 8", limits},
    {Asked::flag, "fp8 kvdtype kvcachedtype quantize quantization int8 fp4",
     "8-bit types and smaller ones are not modelled; f16 with half the --dim moves the bytes of 8-bit Q, K, V and O",
     "run flash_v2 --dtype f16 --dim 32", limits},
    {Asked::flag, "sink sinks attentionsink attentionsinks headsink",
     "a sink is no flag; a key and a value of zeros in front, and the sink in a --bias hk there, compute the same",
     "run flash_v2 --bias hk --seq-q 1024 --seq-k 1025", limits},
    {Asked::flag, "stages numstages pipelinestages", "stages of a pipeline are not modelled; tiles are",
     "run flash_v2 --br 128 --bc 64", limits},
    {Asked::flag, "numwarps warpgroups", "what warps exchange is computed by `explain`", "explain flash_v2 --warps 8",
     limits},
    {Asked::flag, "tma wgmma cluster clusters persistent pingpong warpspecialization",
     "FlashAttention-3's means (wgmma, TMA, specialised warps) are not modelled", "run flash_v2 --gpu H100", limits},
    {Asked::flag, "mask attnmask attentionmask maskfile attnbias",
     "a mask from a file is --bias qk --bias-file m.npy (booleans: True is seen), or --block-mask m.npy --mask-block 1",
     "run flash_v2 --bias qk", masks},
    {Asked::flag, "iscausal causalmask", "it is --causal here, lined up at the last key", "run flash_v2 --causal",
     masks},
    {Asked::flag, "topleft upperleft topleftcausal",
     "--causal lines up the last query and the last key; --window-right seq_q - seq_k the first ones",
     "run flash_v2 --seq-q 1024 --seq-k 512 --window-right 512", masks},
    {Asked::flag, "kvcache decode decoding", "a step of decoding has one query", "run split_kv --seq-q 1 --seq-k 32k",
     nullptr},
    {Asked::flag, "gqa mqa numkvheads nkvheads numkeyvalueheads kvhead", "heads of K and V are --kv-heads here",
     "run flash_v2 --kv-heads 2", nullptr},
    {Asked::flag, "numheads nheads nhead numattentionheads numqueryheads qheads", "query heads are --heads here",
     "run flash_v2 --heads {8}", nullptr},
    {Asked::flag, "contextlength context ctx ctxlen maxseqlen sequencelength", "the sequence length is --seq here",
     "run flash_v2 --seq {4096}", nullptr},
    {Asked::flag, "pageblocksize", "the keys of a page are --page-size here", "run flash_v2 --page-size {16}", nullptr},
    {Asked::flag, "blocksize blockm blockn blockq blockk tile tilesize", "the sizes of tiles are --br and --bc here",
     "run flash_v2 --br 64 --bc 64", nullptr},
    {Asked::flag, "precision", "the storage type is --dtype here", "run flash_v2 --dtype bf16", nullptr},
    {Asked::flag, "device", "the modelled GPU is --gpu here", "run flash_v2 --gpu A100", nullptr},
    {Asked::flag, "softmaxscale smscale", "the factor on the logits is --scale here", "run flash_v2 --scale {0.125}",
     nullptr},
    {Asked::flag, "rope rotary qknorm", "what is done to Q and K before attention is not modelled", "run flash_v2",
     limits},
    {Asked::flag, "backward bwd training", "backward passes are algorithms of their own", "run flash_v2_backward",
     nullptr},
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

/// A number above 0 of few digits, which any place of a command has room for.
bool is_number(std::string_view typed) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !typed.empty() && typed.size() < 8 && digit(typed.front()) && digit(typed.back()) &&
           std::count(typed.begin(), typed.end(), '.') <= 1 &&
           std::all_of(typed.begin(), typed.end(), [&](char c) { return digit(c) || c == '.'; }) &&
           typed.find_first_of("123456789") != typed.npos;
}

/// The command with a number in its place.
std::string with_number(std::string_view closest, std::string_view typed) {
    const std::size_t open = closest.find('{'), end = closest.find('}');
    if (open == closest.npos) return std::string(closest);
    std::string_view usual = closest.substr(open + 1, end - open - 1);
    const bool less = usual.ends_with("=-1"), whole = usual.find('.') == usual.npos;
    if (less) usual.remove_suffix(3);
    std::string number(usual);
    if (is_number(typed) && !(whole && typed.find('.') != typed.npos))
        number = less ? std::to_string(std::stol(std::string(typed)) - 1) : std::string(typed);
    return std::string(closest.substr(0, open)) + number + std::string(closest.substr(end + 1));
}

}  // namespace

std::string instead_of(Asked what, std::string_view typed, std::string_view number) {
    const std::string word = text::plain(typed.substr(0, 60));
    if (word.empty()) return "";
    for (const AskedFor& k : asked_words)
        if (k.what == what && among(k.words, word))
            return std::string(k.there_is) + "; try `tilescope " + with_number(k.closest, number) + '`' +
                   (k.page ? std::string("; see ") + k.page : "");
    return "";
}

}  // namespace tilescope::lab
