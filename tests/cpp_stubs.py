"""The documents' structures and calls in C++, written by hand, that print what they are given.

Names, types, order and defaults are those of the documents and, where a document lists a structure without them, of the
public headers.  What C++ would leave uninitialised holds bytes 0xA5 here, so that a member that nobody sets is seen.
"""

from __future__ import annotations

from collections.abc import Iterable

HEADER = r"""
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

static int number = 0;  // of the case that is running

inline const char* join(const char* path, const char* name) {
    static char names[64][128];  // far more than are in use at a time
    static int next = 0;
    char* place = names[next++ % 64];
    std::snprintf(place, sizeof(names[0]), "%s%s", path, name);
    return place;
}

template <class N> std::enable_if_t<std::is_integral_v<N>> show(const char* path, N value) {
    if (std::is_signed_v<N>) std::printf("%d %s %lld\n", number, path, (long long)value);
    else std::printf("%d %s %llu\n", number, path, (unsigned long long)value);
}
template <class N> std::enable_if_t<std::is_floating_point_v<N>> show(const char* path, N value) {
    std::printf("%d %s %a\n", number, path, (double)value);
}
template <class E> std::enable_if_t<std::is_enum_v<E>> show(const char* path, E value) { show(path, (int)value); }

// A floating-point type with fewer digits: rounds to nearest, ties to even, as the device's types do.
template <int DIGITS, int LOWEST> struct Small {
    double value;
    Small() = default;
    template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>> Small(N wide) {
        int exponent = wide == 0 ? LOWEST : std::ilogb((double)wide);
        double unit = std::ldexp(1.0, (exponent < LOWEST ? LOWEST : exponent) - DIGITS + 1);
        value = std::nearbyint((double)wide / unit) * unit;
    }
};
template <int D, int L> void show(const char* path, Small<D, L> small) { show(path, small.value); }
using half = Small<11, -14>;
using bfloat16_t = Small<8, -126>;

#define MEMBER(name) show(join(path, "." #name), p.name)

namespace AscendC {
using ::show;
enum class AippInputFormat : uint8_t { YUV420SP_U8 = 0, XRGB8888_U8 = 1, RGB888_U8 = 4, YUV400_U8 = 9 };

template <class T> struct AippPaddingParams {
    uint32_t paddingMode{ 0 };
    T paddingValueCh0{ 0 }, paddingValueCh1{ 0 }, paddingValueCh2{ 0 }, paddingValueCh3{ 0 };
};
struct AippSwapParams { bool isSwapRB{ false }, isSwapUV{ false }, isSwapAX{ false }; };
struct AippSingleLineParams { bool isSingleLineCopy{ false }; };
struct AippDataTypeConvParams {
    uint8_t dtcMeanCh0{ 0 }, dtcMeanCh1{ 0 }, dtcMeanCh2{ 0 };
    half dtcMinCh0{ 0 }, dtcMinCh1{ 0 }, dtcMinCh2{ 0 };
    half dtcVarCh0{ 1.0 }, dtcVarCh1{ 1.0 }, dtcVarCh2{ 1.0 };
    uint32_t dtcRoundMode{ 0 };
};
template <class T> struct AippChannelPaddingParams {
    uint32_t cPaddingMode;
    T cPaddingValue;
    AippChannelPaddingParams() { std::memset((void*)this, 0xA5, sizeof(*this)); }
};
struct AippColorSpaceConvParams {
    bool isEnableCsc{ false };
    int16_t cscMatrixR0C0{ 0 }, cscMatrixR0C1{ 0 }, cscMatrixR0C2{ 0 };
    int16_t cscMatrixR1C0{ 0 }, cscMatrixR1C1{ 0 }, cscMatrixR1C2{ 0 };
    int16_t cscMatrixR2C0{ 0 }, cscMatrixR2C1{ 0 }, cscMatrixR2C2{ 0 };
    uint8_t cscBiasIn0{ 0 }, cscBiasIn1{ 0 }, cscBiasIn2{ 0 }, cscBiasOut0{ 0 }, cscBiasOut1{ 0 }, cscBiasOut2{ 0 };
};
template <class T> struct AippParams {
    AippPaddingParams<T> paddingParams;
    AippSwapParams swapParams;
    AippSingleLineParams singleLineParams;
    AippDataTypeConvParams dtcParams;
    AippChannelPaddingParams<T> cPaddingParams;
    AippColorSpaceConvParams cscParams;
};
struct LoadImageToLocalParams {
    LoadImageToLocalParams() {}
    LoadImageToLocalParams(uint16_t horiz, uint16_t vert, uint16_t x, uint16_t y, uint16_t source, uint8_t top,
                           uint8_t bottom, uint16_t left, uint16_t right)
        : horizSize(horiz), vertSize(vert), horizStartPos(x), vertStartPos(y), srcHorizSize(source), topPadSize(top),
          botPadSize(bottom), leftPadSize(left), rightPadSize(right) {}
    uint16_t horizSize = 0, vertSize = 0, horizStartPos = 0, vertStartPos = 0, srcHorizSize = 0;
    uint8_t topPadSize = 0, botPadSize = 0;
    uint16_t leftPadSize = 0, rightPadSize = 0;
    uint8_t sid = 0;
};
template <class T> struct LoadData3DParamsV1 {
    uint8_t padList[4] = {0};
    uint8_t strideW = 0, strideH = 0, filterW = 0, filterH = 0, dilationFilterW = 0, dilationFilterH = 0;
    uint8_t jumpStride = 0, repeatMode = 0, repeatTime = 0, cSize = 0;
    T padValue = 0;
    uint8_t fetchFilterW = 0, fetchFilterH = 0;
    uint16_t l1H = 0, l1W = 0, c1Index = 0;
    int16_t leftTopW = 0, leftTopH = 0;
};
template <class T> struct LoadData3DParamsV2 {
    uint8_t padList[4] = {0};
    uint16_t l1H = 0, l1W = 0, channelSize = 0, kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
    uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1, dilationFilterW = 1, dilationFilterH = 1;
    bool enTranspose = false, enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
};
struct LoadDataRepeatParam {
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1, repeatMode = 0;
    uint16_t dstStride = 0;
};
struct IsResetLoad3dConfig { bool isSetFMatrix = true, isSetPadding = true; };
struct UnaryRepeatParams {
    UnaryRepeatParams() {}
    UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
    uint32_t blockNumber = 8;
    uint16_t dstBlkStride = 1, srcBlkStride = 1;
    uint8_t dstRepStride = 8, srcRepStride = 8;
};

template <class T> void show(const char* path, const AippPaddingParams<T>& p) {
    MEMBER(paddingMode); MEMBER(paddingValueCh0); MEMBER(paddingValueCh1); MEMBER(paddingValueCh2);
    MEMBER(paddingValueCh3);
}
inline void show(const char* path, const AippSwapParams& p) { MEMBER(isSwapRB); MEMBER(isSwapUV); MEMBER(isSwapAX); }
inline void show(const char* path, const AippSingleLineParams& p) { MEMBER(isSingleLineCopy); }
inline void show(const char* path, const AippDataTypeConvParams& p) {
    MEMBER(dtcMeanCh0); MEMBER(dtcMeanCh1); MEMBER(dtcMeanCh2); MEMBER(dtcMinCh0); MEMBER(dtcMinCh1);
    MEMBER(dtcMinCh2); MEMBER(dtcVarCh0); MEMBER(dtcVarCh1); MEMBER(dtcVarCh2); MEMBER(dtcRoundMode);
}
template <class T> void show(const char* path, const AippChannelPaddingParams<T>& p) {
    MEMBER(cPaddingMode); MEMBER(cPaddingValue);
}
inline void show(const char* path, const AippColorSpaceConvParams& p) {
    MEMBER(isEnableCsc); MEMBER(cscMatrixR0C0); MEMBER(cscMatrixR0C1); MEMBER(cscMatrixR0C2); MEMBER(cscMatrixR1C0);
    MEMBER(cscMatrixR1C1); MEMBER(cscMatrixR1C2); MEMBER(cscMatrixR2C0); MEMBER(cscMatrixR2C1); MEMBER(cscMatrixR2C2);
    MEMBER(cscBiasIn0); MEMBER(cscBiasIn1); MEMBER(cscBiasIn2); MEMBER(cscBiasOut0); MEMBER(cscBiasOut1);
    MEMBER(cscBiasOut2);
}
template <class T> void show(const char* path, const AippParams<T>& p) {
    MEMBER(paddingParams); MEMBER(swapParams); MEMBER(singleLineParams); MEMBER(dtcParams); MEMBER(cPaddingParams);
    MEMBER(cscParams);
}
inline void show(const char* path, const LoadImageToLocalParams& p) {
    MEMBER(horizSize); MEMBER(vertSize); MEMBER(horizStartPos); MEMBER(vertStartPos); MEMBER(srcHorizSize);
    MEMBER(topPadSize); MEMBER(botPadSize); MEMBER(leftPadSize); MEMBER(rightPadSize); MEMBER(sid);
}
template <class P> void show_load(const char* path, const P& p) {
    MEMBER(padList[0]); MEMBER(padList[1]); MEMBER(padList[2]); MEMBER(padList[3]); MEMBER(l1H); MEMBER(l1W);
    MEMBER(strideW); MEMBER(strideH); MEMBER(filterW); MEMBER(filterH); MEMBER(dilationFilterW);
    MEMBER(dilationFilterH); MEMBER(padValue);
}
template <class T> void show(const char* path, const LoadData3DParamsV1<T>& p) {
    show_load(path, p);
    MEMBER(c1Index); MEMBER(fetchFilterW); MEMBER(fetchFilterH); MEMBER(leftTopW); MEMBER(leftTopH);
    MEMBER(jumpStride); MEMBER(repeatMode); MEMBER(repeatTime); MEMBER(cSize);
}
template <class T> void show(const char* path, const LoadData3DParamsV2<T>& p) {
    show_load(path, p);
    MEMBER(channelSize); MEMBER(kExtension); MEMBER(mExtension); MEMBER(kStartPt); MEMBER(mStartPt);
    MEMBER(enTranspose); MEMBER(enSmallK); MEMBER(filterSizeW); MEMBER(filterSizeH); MEMBER(fMatrixCtrl);
}
inline void show(const char* path, const LoadDataRepeatParam& p) {
    MEMBER(repeatStride); MEMBER(repeatTime); MEMBER(repeatMode); MEMBER(dstStride);
}
inline void show(const char* path, const IsResetLoad3dConfig& p) { MEMBER(isSetFMatrix); MEMBER(isSetPadding); }
inline void show(const char* path, const UnaryRepeatParams& p) {
    MEMBER(dstBlkStride); MEMBER(srcBlkStride); MEMBER(dstRepStride); MEMBER(srcRepStride);
}

// Calls
constexpr uint64_t MASK_PLACEHOLDER = 0;
template <class T> struct LocalTensor {};
template <class T> struct GlobalTensor {
    size_t place = 0;
    GlobalTensor operator[](size_t more) const { return { place + more }; }
};
template <class T, class U> void SetAippFunctions(const GlobalTensor<T>&, AippInputFormat format, AippParams<U> p) {
    show(".format", format); show(".config", p);
}
template <class T, class U>
void SetAippFunctions(const GlobalTensor<T>&, const GlobalTensor<T>& src1, AippInputFormat format, AippParams<U> p) {
    show(".src1", src1.place); show(".format", format); show(".config", p);
}
template <class T> void LoadImageToLocal(const LocalTensor<T>&, const LoadImageToLocalParams& p) { show(".window", p); }
inline void SetLoadDataRepeat(const LoadDataRepeatParam& p) { show(".repeat", p); }
template <class T> void LoadData(LocalTensor<T>, LocalTensor<T>, const LoadData3DParamsV1<T>& p) { show(".params", p); }
template <class T> void LoadData(LocalTensor<T>, LocalTensor<T>, const LoadData3DParamsV2<T>& p) { show(".params", p); }
template <class T> void SetVectorMask(uint64_t high, uint64_t low) { show(".high", high); show(".low", low); }
template <class T> void VectorPadding(LocalTensor<T>, LocalTensor<T>, uint8_t mode, bool side, uint32_t count) {
    show(".padMode", mode); show(".padSide", side); show(".count", count);
}
template <class T, bool isSetMask = true>
void VectorPadding(LocalTensor<T>, LocalTensor<T>, uint8_t mode, bool side, uint64_t mask, uint8_t repeat,
                   const UnaryRepeatParams& p) {
    show(".padMode", mode); show(".padSide", side); show(".mask", mask); show(".repeat", repeat); show(".params", p);
}
template <class T, bool isSetMask = true>
void VectorPadding(LocalTensor<T>, LocalTensor<T>, uint8_t mode, bool side, const uint64_t mask[], uint8_t repeat,
                   const UnaryRepeatParams& p) {
    show(".padMode", mode); show(".padSide", side); show(".mask[0]", mask[0]); show(".mask[1]", mask[1]);
    show(".repeat", repeat); show(".params", p);
}
inline void show_mask(uint64_t mask) { show(".mask", mask); }
inline void show_mask(const uint64_t mask[]) { show(".mask[0]", mask[0]); show(".mask[1]", mask[1]); }
template <class M>
void BilinearInterpolation(LocalTensor<half>, LocalTensor<half>, LocalTensor<uint32_t>, LocalTensor<half>, M mask,
                           uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride, uint16_t vROffset, uint8_t vRepeat,
                           LocalTensor<uint8_t>) {
    show_mask(mask); show(".hRepeat", hRepeat); show(".repeatMode", repeatMode); show(".dstBlkStride", dstBlkStride);
    show(".vROffset", vROffset); show(".vRepeat", vRepeat);
}
}  // namespace AscendC
using AscendC::show;

// The C API
#define __global__
#define __cube__
#define __gm__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
enum Pipe { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum Event { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
union asc_load3d_v2_config {
    uint64_t config = 0x10000;
    struct { uint64_t rpt_stride : 16; uint64_t rpt_time : 8; uint64_t rpt_mode : 1; uint64_t reserved2 : 39; };
};
union asc_l13d_fmatrix_config {
    uint64_t config = 0;
    struct {
        uint16_t l1_height, l1_width;
        uint8_t padding_left_size, padding_right_size, padding_top_size, padding_bottom_size;
    };
};
inline void show(const char* path, const asc_load3d_v2_config& p) { MEMBER(config); }
inline void show(const char* path, const asc_l13d_fmatrix_config& p) { MEMBER(config); }
inline void asc_set_l13d_rpt(asc_load3d_v2_config& p) { show("asc_set_l13d_rpt", p); }
inline void asc_set_l13d_fmatrix(asc_l13d_fmatrix_config& p) { show("asc_set_l13d_fmatrix", p); }
template <class T> void asc_set_l12l0a_3d_padding(T value) { show("asc_set_l12l0a_3d_padding", value); }
template <class T> void asc_set_gm2l1_padding(T value) { show("asc_set_gm2l1_padding", value); }
template <class T> void argument(T* place) { std::printf(" %s", "pointer"); (void)place; }
template <class T> std::enable_if_t<!std::is_pointer_v<T>> argument(T value) { std::printf(" %lld", (long long)value); }
#define CALL(name) \
    template <class... A> void name(A... values) { \
        std::printf("%d %s", number, #name); (argument(values), ...); std::printf("\n"); \
    }
CALL(asc_init) CALL(asc_set_gm2l1_nz_para) CALL(asc_copy_gm2l1_nd2nz) CALL(asc_sync_notify) CALL(asc_sync_wait)
CALL(asc_sync_pipe) CALL(asc_copy_l12l0a) CALL(asc_copy_l12l0b_transpose) CALL(asc_mmad) CALL(asc_set_l0c_copy_nz_para)
CALL(asc_copy_l0c2gm)
"""


def program(cases: Iterable[str], functions: str = "") -> str:
    """Return a program that runs pieces of code, each in a block of its own, below definitions of functions."""
    blocks = [f"static void case_{i}() {{\nnumber = {i};\n{code}\n}}" for i, code in enumerate(cases)]
    calls = "".join(f"    case_{i}();\n" for i in range(len(blocks)))
    return "\n".join([HEADER, functions, *blocks, f"int main() {{\n{calls}}}\n"])
