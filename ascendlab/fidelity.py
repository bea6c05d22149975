"""The fidelity ledger: every rule of the emulations, and how sure one can be of it.

>>> print(rule("aipp-block-padding").rule)
Padding mode 2 repeats the adjacent block as it lies: neither mirrored nor wrapped around.
>>> sorted({r.source for r in rules("aipp")})
['document', 'inferred', 'open-source kernel', 'public reference']
"""

from __future__ import annotations

from dataclasses import dataclass

from ascendlab.errors import ParameterError

__all__ = ["RULES", "SOURCES", "Rule", "as_markdown", "rule", "rules"]

SOURCES = ("document", "public reference", "open-source kernel", "inferred")
"""Where a rule can come from, surest first."""


@dataclass(frozen=True)
class Rule:
    """One rule of an emulation.

    Parameters
    ----------
    id : str
        Starts with the API: ``aipp-``, ``config-`` (AIPP's config files), ``load3d-``, ``capi-``, ``vector-``,
        ``bilinear-``, ``cpp-`` (Ascend C code).
    rule : str
        What the emulation does, in a sentence.
    source : str
        One of `SOURCES`.
    where : str
        The document and its table, or the file, that says so.
    alternatives : str
        What it would be if this were wrong; what else the sources say.
    """

    id: str
    rule: str
    source: str
    where: str
    alternatives: str = ""


_AIPP = "SetAippFunctions"
_ATC = "ATC guide, AIPP"
_C_API = "asc_set_l12l0a_3d_padding"
_KERNEL = "asc-devkit, AIPP software kernel for arch 3510"
_PADDING = "VectorPadding"
_BILINEAR = "BilinearInterpolation"
_BILINEAR_A2 = "asc-devkit, BilinearInterpolation for arch 2201 (Atlas A2, A3)"
_L3D = "Load3D"
_L3D_PAGE = "LoadData (convolution data movement), newer API reference"
_L3D_PSEUDO = "asc-devkit, example load_data_l12l0, load3d.py (NumPy pseudo-code)"
_L3D_CHECKS = "asc-devkit, LoadData argument checks"

RULES: tuple[Rule, ...] = (
    Rule("aipp-order", "Order: crop, swap, colour conversion, type conversion, border, channel padding.",
         "open-source kernel", _KERNEL, "The document lists the steps without an order."),
    Rule("aipp-output-types", "A2 and A3 convert to int8 and half; the other products also keep uint8.",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-products", "Vector Core and Atlas training have no AIPP.", "document", f"{_AIPP}, support table"),
    Rule("aipp-formats", "Four formats; XRGB8888 always loses its fourth channel.", "document", f"{_AIPP}, table 2 and constraints"),
    Rule("aipp-chroma", "Chroma is repeated: pixel (y, x) takes UV row y // 2, pair x // 2.", "open-source kernel", _KERNEL,
         "Interpolated chroma would differ at colour edges."),
    Rule("aipp-yuv400-csc", "YUV400 has one channel, and three with colour conversion on, U and V being 0.",
         "open-source kernel", _KERNEL),
    Rule("aipp-swap-formats", "RB swaps RGB888 and XRGB8888, UV swaps YUV420SP, AX shifts XRGB8888; elsewhere an error.",
         "document", f"{_AIPP}, table 4"),
    Rule("aipp-swap-order", "AX comes before RB.", "open-source kernel", _KERNEL),
    Rule("aipp-xrgb-trap", "XRGB8888 without AX keeps channels 0 to 2 as they lie: X, R, G where X comes first.",
         "document", f"{_AIPP}, constraints"),
    Rule("aipp-single-line", "A single line reads one row and does not look at vertSize.", "document", f"{_AIPP}, table 5"),
    Rule("aipp-window", "The window lies inside the picture; starts are even where the format needs it.",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-csc-documented", "RGB -> YUV: saturate(((M @ rgb) >> 8) + cscBiasIn); YUV -> RGB: saturate((M @ (yuv - cscBiasOut)) >> 8).",
         "document", f"{_AIPP}, table 8; shift and saturation: aclmdlSetAIPPCscParams",
         "The ACL reference, ATC config files and the open kernel exchange the two biases."),
    Rule("aipp-csc-dav-3510", "RGB -> YUV: uint8((M @ rgb + 128) / 256 + cscBiasOut); YUV -> RGB: uint8((M @ (yuv - cscBiasIn) + 128) / 256); "
         "division towards zero, overflow wraps.", "open-source kernel", _KERNEL),
    Rule("aipp-csc-conflict", "A config whose only non-zero bias is the ignored one gets DocumentationConflictWarning.",
         "inferred", "the two rules above"),
    Rule("aipp-presets", "Four standards, in both channel orders, and two conversions to grey: 18 matrices as the guide lists them, and BGR -> YUV.", "public reference", "ATC guide, CSC configuration"),
    Rule("aipp-dtc-uint8", "To uint8: no conversion; mean, min and var are not looked at.", "document", f"{_AIPP}, data type conversion"),
    Rule("aipp-dtc-int8", "To int8: v - mean, saturated to [-128, 127].", "document", f"{_AIPP}, data type conversion",
         "The open kernel wraps."),
    Rule("aipp-dtc-int8-dav-3510", "To int8 in profile dav_3510: v - mean, wrapping.", "open-source kernel", _KERNEL),
    Rule("aipp-dtc-half", "To half: (v - mean - min) * var; v - mean is exact, then each operation rounds to half.",
         "open-source kernel", _KERNEL, "One rounding at the end differs in the last bit."),
    Rule("aipp-dtc-200i", "Atlas 200I/500 A2 has no min and rounds (v - mean) * var once from float32, ties by dtcRoundMode.",
         "inferred", f"{_AIPP}, table 6; that product loads float32 mean and var in the open kernel"),
    Rule("aipp-dtc-round-mode", "dtcRoundMode other than 0 is an error except on Atlas 200I/500 A2.", "document", f"{_AIPP}, table 6"),
    Rule("aipp-dtc-channel", "Mean, min and var belong to the output channel.", "public reference", "ATC guide: applied after swap and CSC"),
    Rule("aipp-dtc-channel-dav-3510", "Without colour conversion, dav_3510 takes them by source channel; AX then reads past the array: refused.",
         "open-source kernel", _KERNEL),
    Rule("aipp-constant-padding", "Mode 0 pads left and right; channels 0 to 3 take paddingValueCh0 to 3, others the channel padding value.",
         "document", f"{_AIPP}, table 3; one-channel pictures: open kernel"),
    Rule("aipp-constant-no-rows", "Mode 0 with top or bottom padding is an error; dav_3510 clears both and warns.",
         "document", f"{_AIPP}, table 3; clearing: open kernel"),
    Rule("aipp-edge-padding", "Padding mode 1 repeats the nearest edge pixel.", "document", f"{_AIPP}, figure 2"),
    Rule("aipp-block-padding", "Padding mode 2 repeats the adjacent block as it lies: neither mirrored nor wrapped around.",
         "open-source kernel", f"{_KERNEL}; {_AIPP}, figure 3 is a picture",
         "Wrap-around (np.pad mode 'wrap') would bring the opposite side of the window."),
    Rule("aipp-mirror-padding", "Padding mode 3 mirrors the adjacent block, edge pixel included.", "open-source kernel",
         f"{_KERNEL}; {_AIPP}, figure 4 is a picture", "np.pad mode 'reflect' would leave the edge pixel out."),
    Rule("aipp-block-limit", "In modes 2 and 3 a border is no larger than the window that is read (one row with single line).",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-channel-padding", "An output pixel has 32 bytes, or 4 channels; added channels hold cPaddingValue, in the border too.",
         "document", f"{_AIPP}, table 7; border: open kernel"),
    Rule("aipp-constants", "Padding values are of the output type and stand there as they are: no conversion touches them.",
         "document", f"{_AIPP}, tables 3 and 7", "Constants could pass through mean, min and var as samples do."),
    Rule("aipp-capacity", "A result larger than L1 is computed all the same, unless check_capacity asks for a refusal.",
         "inferred", "a kernel moves such a window in tiles; photographs and golden arrays do not fit"),
    Rule("aipp-registers", "SetAippFunctions packs its parameters into the special registers 0 to 9; Atlas 350 keeps the same words in variables.",
         "open-source kernel", "asc-devkit, impl/basic_api/kernel_reg.h"),
    Rule("aipp-registers-200i", "Atlas 200I/500 A2 writes mean and var as floats into registers 18 to 21, no min, and dtcRoundMode into 9.",
         "open-source kernel", "asc-devkit, impl/basic_api/kernel_reg.h, NPU arch 3002"),
    Rule("aipp-kernel-limits", "The open kernel copies whole 32-byte blocks from 256 KiB of scratch memory; the result here is the one before "
         "that copy.", "open-source kernel", _KERNEL),
    Rule("config-grammar", "An AIPP config file is protobuf's text format, each field of aipp_op given at most once.", "public reference",
         f"{_ATC}, configuration file template", "The converter's own message may let matrix, bias and factors repeat."),
    Rule("config-order", "Order: swap, crop, colour conversion, type conversion, border.", "public reference", f"{_ATC}, configuration file template"),
    Rule("config-formula", "Output is half: (pixel - mean_chn - min_chn) * var_reci_chn of the output channel.", "public reference",
         f"{_ATC}, configuration file template", "The converter may round elsewhere; here each half operation rounds."),
    Rule("config-csc-default", "With csc_switch on, each matrix element and bias that the file lacks is the default's: YUV -> BGR or RGB -> YUV, "
         "BT.601 narrow, biases 16 128 128.", "open-source kernel", "the converter's AIPP operator, default constants"),
    Rule("config-bias", "input_bias is subtracted before YUV -> RGB, output_bias added after RGB -> YUV; it goes into the field that the profile reads.",
         "public reference", f"{_ATC}, colour conversion", "The manual's table 8 names the two the other way round."),
    Rule("config-ax-swap", "ax_swap_switch is on for a picture with X first in memory (XRGB), off for one with X last (RGBX).",
         "public reference", f"{_ATC}, colour conversion"),
    Rule("config-border", "padding is the constant mode; rows at top and bottom have no equivalent in Ascend C and are filled all the same.",
         "inferred", f"{_AIPP}, table 3, against {_ATC}, configuration file template", "A kernel would have to fill the rows itself."),
    Rule("config-crop-size", "A crop without size takes the model's input, which the file does not show: to_aipp asks for it.",
         "public reference", f"{_ATC}, configuration file template"),
    Rule("vector-datablock", "A DataBlock is 32 bytes, a repeat works on 8 of them; strides count DataBlocks.",
         "document", f"{_PADDING}, table 2; {_BILINEAR}, table 2"),
    Rule("vector-default-strides", "UnaryRepeatParams is dstBlkStride, srcBlkStride, dstRepStride, srcRepStride; 1, 1, 8, 8 by default.",
         "public reference", "UnaryRepeatParams; asc-devkit, kernel_struct_unary.h"),
    Rule("vector-mask-continuous", "A number n lets the first n lanes of each repeat be written: [1, 128] of 16 bits, [1, 64] of 32 bits.",
         "document", f"{_PADDING}, table 2, mask"),
    Rule("vector-mask-bitwise", "Two words (16 bits) or one (32 bits), not all 0; lane i is bit i % 64 of word i // 64.",
         "document", f"{_PADDING}, table 2, mask[]: [8, 0] is the fourth element"),
    Rule("vector-mask-writes", "The mask gates what is written; sources are read whole, whatever the mask is.",
         "document", f"{_PADDING}, constraints", "A masked read would accept shorter sources."),
    Rule("vector-mask-placeholder", "isSetMask = false is mask=MASK_PLACEHOLDER together with vector_mask, what SetVectorMask has set.",
         "document", f"{_PADDING}, table 1"),
    Rule("vector-mask-64-bit", "Not emulated: masks of 64-bit operands ([1, 32], one word below 2**32); no type of the two instructions is that wide.",
         "document", f"{_PADDING}, table 2, mask"),
    Rule("vector-overlap", "Two writes to one DataBlock of dst are an error, judged on the blocks addressed, whatever the mask is; so are "
         "operands that share memory. Source blocks may overlap.",
         "inferred", "the programming guide's rule for overlapping operands", "The hardware would write in an order nobody promises."),
    Rule("vector-result-size", "Without out the result is 0 where nothing is written and ends with the last DataBlock addressed (count: with element count - 1).",
         "inferred", "the smallest tensor that the instruction may be given"),
    Rule("vector-capacity", "All operands together, each in whole DataBlocks, fit into the Unified Buffer; only check_capacity asks for it.",
         "open-source kernel", "asc-devkit, buffer sizes by arch: 192 KiB (A2, A3), 248 KiB (350), 256 KiB (inference)"),
    Rule("vector-padding-nearest", "padMode 0 fills with the first element of the block (left) or the last (right).", "document", f"{_PADDING}, description"),
    Rule("vector-padding-mirror", "padMode 1 mirrors the block, the same for both sides.", "document", f"{_PADDING}, description",
         "The document shows only the three elements beside the edge."),
    Rule("vector-padding-shifted", "padMode 2 mirrors the block without the element at the edge; 0 comes in at the far end.", "document", f"{_PADDING}, description"),
    Rule("vector-padding-count", "count writes the first count elements of dst; whole DataBlocks are read.", "document", f"{_PADDING}, constraints"),
    Rule("vector-padding-types", "int16, uint16, half, int32, uint32 and float, moved as bits: NaNs and signed zeros arrive as they left.",
         "document", f"{_PADDING}, table 1; bits: asc-devkit calls one instruction for all types of a width"),
    Rule("vector-padding-products", "Only Atlas inference AI Core has VectorPadding.", "document", f"{_PADDING}, support table"),
    Rule("vector-padding-nothing", "repeatTime 0 and count 0 do nothing.", "inferred", "no document says so; C++ loops of 0 iterations"),
    Rule("bilinear-sum", "total = 0; for each iteration total = half(total + half(sample * weight)), in the order of the iterations.",
         "open-source kernel", "asc-devkit, BilinearInterpolation for arch 2201 and arch 5102: Mul, then Add",
         "The single instruction of Atlas inference AI Core might keep more bits between the steps."),
    Rule("bilinear-non-finite", "Overflow gives infinity, and infinities and NaNs follow IEEE 754; which NaN a result is stays open.",
         "inferred", "the INF_NAN mode of Atlas A2 and later", "In saturation mode a device gives 65504 instead of infinity and 0 instead of NaN."),
    Rule("bilinear-repeat-mode", "repeatMode False: one weight per iteration; True: eight, one for each DataBlock.", "document", f"{_BILINEAR}, description"),
    Rule("bilinear-offsets", "Iteration i reads offsets 8i to 8i + 7, in bytes: multiples of 32, each a whole DataBlock inside src0.",
         "document", f"{_BILINEAR}, description; inside: the general rules of addresses"),
    Rule("bilinear-destination", "Block b of vertical repeat v goes to element v * vROffset + 16 * dstBlkStride * b.", "document", f"{_BILINEAR}, table 2"),
    Rule("bilinear-overlap", "Vertical repeats must not write the same DataBlocks; they may interleave. src0, src1 and src0Offset do not overlap.",
         "document", f"{_BILINEAR}, constraints", "Address ranges instead of blocks would forbid interleaving."),
    Rule("bilinear-ranges", "hRepeat and vRepeat are in [1, 255], vROffset in [128, 65534] and a multiple of 16.", "document", f"{_BILINEAR}, table 2"),
    Rule("bilinear-products", "Atlas 350, A3, A2 and inference AI Core have BilinearInterpolation, with half only.", "document", f"{_BILINEAR}, support table, table 1"),
    Rule("bilinear-tmp-buffer", "sharedTmpBuffer: nothing on 350, (src0 + src1 elements) * 32 bytes on A2 and A3, 4 bytes per offset on inference AI Core.",
         "document", f"{_BILINEAR}, table 2", "shared_tmp_buffer_size=None leaves it unchecked."),
    Rule("bilinear-a2-uint8", "A2, A3: hRepeat * 8, vROffset / 16 (both with vRepeat >= 2), hRepeat * vRepeat and src1 / 8 live in uint8; what does "
         "not fit is warned of, the result is the documented one.", "open-source kernel", _BILINEAR_A2),
    Rule("bilinear-a2-eights", "A2, A3: src1 is read in eights; weights in an incomplete last eight are never read, which is warned of.",
         "open-source kernel", _BILINEAR_A2),
    Rule("bilinear-a2-tmp-buffer", "A2, A3: 256 * hRepeat * vRepeat + 32 * src1 elements bytes of sharedTmpBuffer are used, however large src0 is; a "
         "smaller one is warned of.", "open-source kernel", _BILINEAR_A2, "The document's formula is too small where offsets read blocks again."),
    Rule("load3d-windows", "Row m of the matrix is window (m // Wo, m % Wo); Ho = (H + top + bottom - ((Hk - 1) * dilation + 1)) // stride + 1, Wo alike.",
         "public reference", f"{_L3D_PSEUDO}; {_L3D}, data format section"),
    Rule("load3d-k-order", "Columns run over (c1, kh, kw, c0), c0 fastest.", "document",
         "asc_set_l12l0a_3d_padding, golden of the example", "Order (kh, kw, c) agrees only up to one channel group."),
    Rule("load3d-channel-tail", "A last group of fewer channels is packed: it holds only its real channels, in L1 and in K.",
         "inferred", f"{_L3D}: 4 channels and a 3x3 filter make rows of 36",
         "Tails after full groups could be stored with the stride of a full group."),
    Rule("load3d-channel-sizes", "The channel sizes listed for product and type are accepted, up to 65535; inference AI Core has one full group of 8 and 16 bits only.",
         "document", f"{_L3D}, table 4; {_L3D_CHECKS}", "The same table gives the range [1, 63], which its own N * 16 contradicts."),
    Rule("load3d-padding", "Outside the picture stands padValue, in the data's type.", "document", f"{_L3D}, table 4",
         "The C++ layer of Atlas 350 keeps 16 bits of the padding register, so that a float pad of 1.0 would become 0 there."),
    Rule("load3d-filter-size", "filterSizeW and filterSizeH add 256 filter points; inference AI Core refuses them.", "document",
         f"{_L3D}, table 4; refusal: the open C++ layer never passes them on"),
    Rule("load3d-products", "V1: inference AI Core and training; V2: Atlas 350, A3, A2, 200I/500 A2 and inference AI Core.",
         "public reference", _L3D_PAGE),
    Rule("load3d-types", "Types by product and destination; B2 takes no 8-bit types on A2, A3 and 200I/500 A2, and int4 nowhere.",
         "public reference", _L3D_PAGE, "hifloat8 has no NumPy type and is not emulated."),
    Rule("load3d-zz", "A2 gets ZZ: (m1, k1, 16, C0).", "document", f"{_L3D}, table 2"),
    Rule("load3d-nz-350", "On Atlas 350, A2 gets NZ: (k1, m1, 16, C0).", "public reference", _L3D_PAGE),
    Rule("load3d-zn", "B2 gets ZN, im2col's M being the contraction: (M/C0, K/16, 16, C0), each fractal's last axis running along M; enTranspose is ignored.",
         "document", f"{_L3D}, table 2; {_L3D_PSEUDO}"),
    Rule("load3d-transpose", "enTranspose on A2 loads the transposed matrix in the same layout, fractals of 16 k x C0 m.", "document",
         f"{_L3D}, table 4; {_L3D_PSEUDO}", "Transposing only inside each fractal would leave the fractals in place."),
    Rule("load3d-transpose-types", "It works on b16 everywhere, on b32 on A2, A3 and Atlas 350, on b8 on Atlas 350; else an error.",
         "public reference", _L3D_PAGE, "Table 4 of the document says half only."),
    Rule("load3d-transpose-square", "Transposed results fill M and K up to multiples of 16 and of C0; what is filled up is not written.",
         "public reference", f"{_L3D_PSEUDO} (b32); {_L3D_PAGE} (b8: two 16 x 32 fractals joined, transposed, split)",
         "For b8 with an odd number of 16-row fractals nothing public says what the second half holds."),
    Rule("load3d-unwritten", "Positions inside a fractal that no element of the block reaches keep what was there.", "inferred",
         f"{_L3D_PSEUDO}, for the filled-up rows of b32", "Whole fractals could be written, with zeros or the pad value."),
    Rule("load3d-alignment", "kStartPt is a multiple of C0; mStartPt, mExtension (of 16) and kExtension (of C0) are unless the block reaches the last fractal; b32 rows are free.",
         "document", f"{_L3D}, table 4; b32: {_L3D_PAGE}", "The open checks want multiples always, and mStartPt up to 32767 on A2."),
    Rule("load3d-last-fractal", "A block starts inside the matrix and ends at the latest with its last fractal.", "inferred", f"{_L3D}, table 4"),
    Rule("load3d-no-operation", "Zero l1H, l1W, channelSize, kExtension, mExtension, repeatTime or filter: the instruction does nothing; here an error unless strict=False.",
         "public reference", _L3D_PAGE),
    Rule("load3d-small-k", "enSmallK = true is refused.", "document", f"{_L3D}, table 4: no longer supported"),
    Rule("load3d-f-matrix-ctrl", "fMatrixCtrl = true is refused.", "document", f"{_L3D}, table 4: only false at present"),
    Rule("load3d-repeat", "Repeats step mStartPt by repeatStride * 16 (mode 0) or kStartPt by repeatStride * C0 (mode 1; twice that on 200I/500 A2); not on inference AI Core.",
         "public reference", "SetLoadDataRepeat"),
    Rule("load3d-repeat-results", "Repeats follow each other as a leading axis, for B2 too; with enTranspose they are one matrix, transposed once.",
         "public reference", _L3D_PAGE, "B2's repeats could be one matrix as well: other places for mode 1, the same bytes for mode 0."),
    Rule("load3d-dst-stride", "dstStride (Atlas 350 only) counts fractals from one column of the result's fractals to the next; 0 means no gap, less than a column is an error.",
         "public reference", "SetLoadDataRepeat; for 0: the open C++ layer computes it", "The hardware register has no default."),
    Rule("load3d-capacity", "L0A and L0B hold 64 KiB; check_capacity enforces it.", "public reference", "hardware tables of the API reference"),
    Rule("load3d-not-emulated", "TensorTrait types, LoadData3DParamsV2Pro and SetLoadDataBoundary are refused by name.", "document", f"{_L3D}, tables 1 and 2"),
    Rule("load3d-v1-fractal", "A V1 repeat writes one fractal: 16 consecutive windows, continued in the next row of windows, x C0 channels of c1 at one filter point.",
         "document", f"{_L3D}, table 3"),
    Rule("load3d-v1-repeat", "repeatMode 0 goes to the next filter point (w, then h, then c1), mode 1 on by 16 windows; the result moves on by jumpStride fractals.",
         "document", f"{_L3D}, table 3"),
    Rule("load3d-v1-first-window", "leftTopW and leftTopH are the corner of one of the windows.", "inferred", f"{_L3D}, table 3: -a with a padding of a",
         "Corners between windows would need a rule for where the next row begins."),
    Rule("load3d-v1-past-last", "Windows past the last one follow the same arithmetic: samples where they lie in the picture, padValue where not.",
         "inferred", f"{_L3D}, table 3", "They could be left unwritten."),
    Rule("load3d-v1-b2", "B2 gets each V1 fractal transposed: (C0, 16).", "document", f"{_L3D}, table 2: ZN"),
    Rule("load3d-v1-c-size", "cSize = 1: L1 is (H, W, 4) for half, (H, W, 8) for 8 bits; a fractal's row holds the C0/4 or C0/8 consecutive filter points, and repeatMode 0 moves on by as many.",
         "inferred", f"{_L3D}, table 3"),
    Rule("capi-products", "The asc_ calls exist on Atlas 350 only.", "document", f"{_C_API}, support table",
         "Some of the neighbours (asc_mmad, asc_init, the sync calls) also exist on Atlas A2 and A3, with other arguments."),
    Rule("capi-aiv", "On a vector core the calls of the matrix side return at once and change nothing.", "document", f"{_C_API}, constraints"),
    Rule("capi-padding-types", "The padding setters take int8, uint8, int16, uint16, half, bfloat16, int32, uint32 and float; a bare Python number has no type and is refused.",
         "document", f"{_C_API}, prototypes"),
    Rule("capi-padding-bits", "The padding register holds 32-bit values in [31:0], 16-bit ones in [15:0], 8-bit ones twice in [15:0], 4-bit ones four times; [63:32] are 0.",
         "document", f"{_C_API}, table 1"),
    Rule("capi-padding-late", "The raw form checks bits [63:32] only; whether the copies of a small value agree is checked by the load that uses them.",
         "inferred", "the register has no type; only its user knows one", "A check by the setter would refuse words that are legal for wider types."),
    Rule("capi-padding-shared", "asc_set_l12l0a_3d_padding, asc_set_gm2l1_padding and SetLoadDataPaddingValue write one register.", "document", f"{_C_API}, constraints"),
    Rule("capi-padding-float", "A 32-bit padding value keeps all its bits.", "document", f"{_C_API}, table 1",
         "The C++ layer for Atlas 350 keeps 16 bits of a LoadData padding value: a float 1.0 becomes 0 there."),
    Rule("capi-init", "asc_init sets the padding register to 0 on a matrix core; a load that pads before any of this is refused.", "public reference", "asc_init, table 1"),
    Rule("capi-fmatrix", "asc_l13d_fmatrix_config holds height [15:0], width [31:16], left, right, top, bottom (8 bits each).", "public reference", "asc_l13d_fmatrix_config",
         "The C++ layer writes the width lowest; every public example is square, where this makes no difference."),
    Rule("capi-rpt", "asc_load3d_v2_config holds repeat stride [15:0], time [23:16], mode [24], destination stride [47:32]; its default is 0x10000.",
         "document", f"{_C_API}, example; default: asc_load3d_v2_config"),
    Rule("capi-rpt-start", "Bits [63:48] of the repeat register are the destination's first fractal row.", "public reference", "asc_set_l13d_rpt, form with five arguments",
         "In the union of the first release these bits are reserved."),
    Rule("capi-dst-stride", "A 3D load with destination stride 0 is refused.", "public reference", "asc_copy_l12l0a, 3D form: dst_stride must be set before",
         "What the hardware does then is not defined; the C++ layer always sets the stride."),
    Rule("capi-3d", "The 3D form loads what LoadData with LoadData3DParamsV2 loads, from the registers' feature map and padding; L0A gets NZ, L0B the transposed matrix.",
         "public reference", "asc_copy_l12l0a and asc_copy_l12l0b, 3D form"),
    Rule("capi-f-matrix-ctrl", "f_matrix_ctrl = true, the B side's registers, is refused.", "document", "LoadData: only false can be set at present",
         "Newer pages of the C API give L0B registers of its own."),
    Rule("capi-nd2nz", "ND2NZ puts element (n, d) at n * n_stride + d // C0 * c0_stride blocks of 32 bytes and fills the last block of a row with 0; asc_set_gm2l1_nz_para comes first.",
         "public reference", "asc_copy_gm2l1_nd2nz and asc_set_gm2l1_nz_para"),
    Rule("capi-small-c0", "smallc0_en = true is refused.", "inferred", "the pages do not say how rows follow each other then"),
    Rule("capi-no-operation", "A count of zero (matrix_num, m_step, k_step, m, k, n, extensions, repeat time, filter) makes a call that does nothing.", "public reference", "the calls' pages"),
    Rule("capi-overlap", "Strides that write a byte twice in one call are refused.", "inferred", "asc_set_gm2l1_nz_para: the order of such writes is not defined",
         "The hardware writes something, without an error."),
    Rule("capi-2d", "The 2D loads start at fractal k_start * abs(src_stride) + m_start and copy whole fractals; negative strides walk back.", "public reference", "asc_copy_l12l0a, 2D form"),
    Rule("capi-transpose", "The transposing 2D loads leave the transposed matrix as NZ, dst_stride fractals from column to column; squares are one 16-bit fractal, two 8-bit or two 32-bit ones.",
         "public reference", "asc_copy_l12l0b_transpose and its example for all types"),
    Rule("capi-unwritten", "Whole-fractal copies carry unwritten bytes along; a 3D load, a multiplication or a copy to GM that consumes one is refused.",
         "inferred", "the 2D pages allow fractals with an invalid rest; real kernels compute with whatever lies there"),
    Rule("capi-mmad-order", "asc_mmad rounds every product to float32 and adds it to the sum so far, k = 0 first.", "document", f"{_C_API}, golden data of the example",
         "Sums in float64, or in an order that a BLAS chooses, differ in the last bit of about one half result in 700 on general data."),
    Rule("capi-mmad-types", "half, bfloat16, float and fp8 operands give float, int8 gives int32.", "public reference", "asc_mmad, table of types"),
    Rule("capi-mmad-int8", "int32 sums saturate, once at the end.", "public reference", "asc_mmad: integers only saturate", "Saturation after every addition differs only if a sum leaves the range and returns."),
    Rule("capi-mmad-tail", "Whole blocks of K are consumed: an unwritten byte between k and the next multiple of C0 is refused; what is written there does not count.",
         "inferred", "asc_mmad: operands are padded to C0 along K", "The newest page says that this rest takes no part; then unwritten bytes there would be harmless."),
    Rule("capi-mmad-rest", "Rows and columns past m and n are never asked for, and what the result holds there counts as unwritten.", "public reference", "asc_mmad: M and N are padded to 16"),
    Rule("capi-gemv", "With m = 1 and disable_gemv = false, A is read as one plain row.", "public reference", "asc_mmad, constraints"),
    Rule("capi-mmad-again", "Adding to a C of fewer than 10 fractals needs asc_sync_pipe(PIPE_M) after the multiplication before.", "public reference", "asc_mmad, synchronization",
         "The page counts (m / 16) * (n / 16); fractals are rounded up here."),
    Rule("capi-mmad-refused", "unit_flag other than 0 and the bias table are refused.", "inferred", "not emulated"),
    Rule("capi-specials", "Infinities and NaNs stay what they are, and float to half overflows to infinity.", "public reference", "asc_mmad: CTRL[48] = 1",
         "With CTRL[48] = 0 they saturate to the largest number and to 0."),
    Rule("capi-l0c2gm", "asc_copy_l0c2gm undoes NZ with the given source stride (16 elements), rounds F322F16 and F322BF16 to nearest even, and needs asc_set_l0c_copy_nz_para for NZ2ND.",
         "public reference", "asc_copy_l0c2gm, table 1"),
    Rule("capi-l0c2gm-refused", "Quantization, clip ReLU, ReLU with slopes, unit flag, channel split, NZ2DN and reserved arguments are refused.", "inferred", "not emulated"),
    Rule("capi-alignment", "Addresses: 32 bytes in L1, 512 in L0A and L0B, 1024 for C in asc_mmad, 64 for C in asc_copy_l0c2gm.", "public reference", "the calls' pages"),
    Rule("capi-overrun", "A pointer reaches its own array only; a call that would leave it is refused.", "inferred", "C++ would overwrite the neighbour",
         "The hardware checks the buffer's end only."),
    Rule("capi-flags", "A wait without its notify, a second notify of a set flag, and a flag left at the kernel's end are refused.", "public reference", "asc_sync_notify, constraints",
         "The hardware hangs, or confuses the next kernel."),
    Rule("capi-order", "Reading what another pipe may still be writing, and overwriting what another pipe may still be reading, is refused; flags and barriers make the order.",
         "public reference", "intra-core synchronization"),
    Rule("capi-order-mte2", "Copies from GM to the same bytes need asc_sync_pipe(PIPE_MTE2); MTE1, M and FIX write in order.", "public reference", "asc_sync_pipe, constraints",
         "In order: inferred; a public example lets MTE1 overwrite fractals without a barrier."),
    Rule("capi-blocks", "Two blocks of a launch that touch the same bytes of GM, one of them writing, are refused.", "inferred", "blocks run at the same time, in no order"),
    Rule("capi-load-data", "LoadData sets the feature map's and the padding's register itself, or uses what is there, as IsResetLoad3dConfig says.", "document", "Load3D, table 1"),
    Rule("capi-aipp", "LoadImageToLocal runs on MTE2 and leaves (H, W, C) in L1: with 32 bytes a pixel that is NC1HWC0 with C1 = 1, with 4 channels a packed map.",
         "document", "SetAippFunctions, table 7; Load3D, channelSize"),
    Rule("cpp-defaults", "Code leaves out what the C++ structure starts with. AippChannelPaddingParams starts with nothing, LoadData3DParamsV1 with an illegal 0 in strides, filter, dilation, jumpStride and repeatTime: these are always written, and missed in what is read.",
         "open-source kernel", "asc-devkit, kernel_struct_aipp.h and kernel_struct_mm.h", "The documents list most of these structures without initialisers, and defaults in their tables."),
    Rule("cpp-mask-words", "A bitwise mask of 32-bit data is written as two words, the second one 0.", "open-source kernel", "asc-devkit, vector calls: SetMask(mask[1], mask[0])",
         "The document gives such an array one word; the call would read behind it."),
    Rule("capi-golden", "The fast golden convolution adds in float64 and rounds once.", "inferred", "golden data need no order; see capi-mmad-order for what the machine does"),
)  # fmt: skip

_BY_ID = {r.id: r for r in RULES}


def rule(rule_id: str) -> Rule:
    """Return the rule with this id."""
    if not isinstance(rule_id, str) or rule_id not in _BY_ID:
        raise ParameterError("rule_id", rule_id, "an id of the ledger, see ascendlab.fidelity.RULES")
    return _BY_ID[rule_id]


def rules(api: str = "") -> tuple[Rule, ...]:
    """Return the rules of one API (``"aipp"``, ``"load3d"`` ...), or all."""
    if not isinstance(api, str):
        raise ParameterError("api", api, "a string that rule ids start with")
    return tuple(r for r in RULES if not api or r.id.startswith(f"{api}-"))


def as_markdown(api: str = "") -> str:
    """Return the ledger as a Markdown table.

    Parameters
    ----------
    api : str, optional
        Only this API's rules.
    """
    lines = ["| id | rule | source | where | alternatives |", "|---|---|---|---|---|"]
    lines += [f"| {r.id} | {r.rule} | {r.source} | {r.where} | {r.alternatives} |" for r in rules(api)]
    return "\n".join(lines)
