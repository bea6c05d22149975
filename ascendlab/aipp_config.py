"""AIPP config files: read them, say what they do in Ascend C, say what looks wrong.

Such a file (``aipp_op { ... }``) tells the model converter how to preprocess a model's input.

>>> config = read_aipp_config('''aipp_op { aipp_mode: static  input_format: RGB888_U8
...     src_image_size_w: 8  src_image_size_h: 6
...     min_chn_0: 0.485  min_chn_1: 0.456  min_chn_2: 0.406
...     var_reci_chn_0: 0.229  var_reci_chn_1: 0.224  var_reci_chn_2: 0.225 }''')
>>> params, window = config.to_aipp()
>>> params.dtc_params.dtc_var_ch0, window.src_horiz_size
(0.22900390625, 8)
>>> [(finding.code, finding.lines) for finding in config.check()]
[('var-looks-like-std', (3, 4))]

What the file cannot show, `AippConfig.check` cannot see: above all whether the pictures that arrive, or the model's
first layer, are scaled to 0..1 already, so that the file's normalisation comes on top of another one.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_config_check import AnnotatedLine, Finding, annotate, check_config, without_equivalent
from ascendlab.aipp_config_fields import CONFIG_FIELDS, ENUMS
from ascendlab.aipp_config_op import AippOp
from ascendlab.aipp_config_stages import Stage, run_stages
from ascendlab.aipp_config_text import LARGEST_TEXT, decode, refuse, scan
from ascendlab.aipp_params import AippParams, LoadImageToLocalParams, check_profile
from ascendlab.errors import NoEquivalentWarning, ParameterError
from ascendlab.fields import check_int
from ascendlab.files import read_regular

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = [
    "AippConfig",
    "AippOp",
    "AnnotatedLine",
    "Finding",
    "Stage",
    "annotate",
    "read_aipp_config",
    "read_config_text",
]

_MEMBERS = {
    name: {number: member for member, number in ENUMS[field.kind].items()}
    for name, field in CONFIG_FIELDS.items()
    if field.kind in ENUMS
}


@dataclass(frozen=True)
class AippConfig:
    """What an AIPP config file says; made by `read_aipp_config`.

    Parameters
    ----------
    text : str
        The file's text; bytes of other encodings in comments stand there as U+FFFD.
    aipp_op : tuple of AippOp
        The blocks, one per input of the model; fields of a block are its attributes.

    Examples
    --------
    >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: YUV420SP_U8 csc_switch: true }")
    >>> config.aipp_op[0].csc_switch, config.aipp_op[0].crop
    (True, False)
    >>> config.aipp_op[0].matrix.tolist()
    [[298, 516, 0], [298, -100, -208], [298, 0, 409]]
    """

    text: str
    aipp_op: tuple[AippOp, ...]

    def check(self) -> list[Finding]:
        """Say what looks wrong: misunderstandings that real files have in common.

        Returns
        -------
        list of Finding
            In the order of the lines; empty for a clean file.

        Examples
        --------
        >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: YUV400_U8 csc_switch: true }")
        >>> for finding in config.check():
        ...     print(finding)
        line 1: [yuv400-csc] YUV400 has no colours to convert: U and V would be taken for 0.
        Write csc_switch: false
        """
        return check_config(self.aipp_op)

    def to_aipp(
        self,
        *,
        profile: str = "documented",
        block: int = 0,
        src_image_size_w: int | None = None,
        src_image_size_h: int | None = None,
        crop_size_w: int | None = None,
        crop_size_h: int | None = None,
    ) -> tuple[AippParams, LoadImageToLocalParams]:
        """Say the same in Ascend C.

        Parameters
        ----------
        profile : {"documented", "dav_3510"}
            For whose reading of the two biases; the result belongs to `set_aipp_functions` with the same profile.
        block : int
            Which ``aipp_op``, from 0.
        src_image_size_w, src_image_size_h, crop_size_w, crop_size_h : int, optional
            What the file leaves to the model's input; a size that the file gives cannot be given again.

        Returns
        -------
        AippParams, LoadImageToLocalParams
            For output of type half; ``cPaddingMode`` and ``cPaddingValue`` keep their defaults.

        Raises
        ------
        ParameterError
            A block that is dynamic or has no format, sizes that nobody gives, a value that Ascend C's field cannot
            hold, an odd start.

        Warns
        -----
        NoEquivalentWarning
            Border rows at top or bottom, which Ascend C's constant padding lacks, and resizing: they are left out.

        Examples
        --------
        >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: YUV420SP_U8 csc_switch: true }")
        >>> params, window = config.to_aipp(src_image_size_w=64, src_image_size_h=32)
        >>> params.csc_params.bias_out, window.horiz_size, window.vert_size
        ((16, 128, 128), 64, 32)
        """
        op = self.block(block)
        check_profile(profile)
        op.require_static()
        source, crop = (src_image_size_w, src_image_size_h), (crop_size_w, crop_size_h)
        window = op.window(self._size(op, "src_image_size", source), self._size(op, "crop_size", crop))
        for lost in without_equivalent(op):
            warnings.warn(f"{lost.why}. {lost.fix}", NoEquivalentWarning, stacklevel=2)
        return op.params(profile), LoadImageToLocalParams(
            horiz_size=window.width,
            vert_size=window.height,
            src_horiz_size=window.src_width,
            horiz_start_pos=window.left,
            vert_start_pos=window.top,
            left_pad_size=op.padding_sizes[0],
            right_pad_size=op.padding_sizes[1],
        )

    def stages(
        self, src0: NDArray[np.uint8], src1: NDArray[np.uint8] | None = None, *, profile: str = "documented",
        block: int = 0,
    ) -> tuple[Stage, ...]:  # fmt: skip
        """Compute what the block does to a picture, stage by stage, border rows at top and bottom included.

        Parameters
        ----------
        src0, src1 : ndarray of uint8
            As for `set_aipp_functions`.  Without a size in the file any size goes; a crop without size takes the rest.
        profile : {"documented", "dav_3510"}
            Whose arithmetic.
        block : int
            Which ``aipp_op``, from 0.

        Returns
        -------
        tuple of Stage
            source, swap, crop, csc, dtc, padding: pixels, and what the channels are.

        Examples
        --------
        >>> picture = np.full((4, 4, 3), (10, 20, 30), np.uint8)
        >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true }")
        >>> for stage in config.stages(picture)[:2]:
        ...     print(stage.name, stage.channels, stage.pixels[0, 0])
        source ('R', 'G', 'B') [10 20 30]
        swap ('B', 'G', 'R') [30 20 10]
        """
        op = self.block(block)
        check_profile(profile)
        op.require_static()
        return run_stages(op, src0, src1, profile)

    def apply(
        self, src0: NDArray[np.uint8], src1: NDArray[np.uint8] | None = None, *, profile: str = "documented",
        block: int = 0,
    ) -> NDArray[np.float16]:  # fmt: skip
        """Compute what the model gets: the last of `stages`.

        Returns
        -------
        ndarray of float16, shape (H, W, C)
            C is 3, or 1 for YUV400 without CSC.

        Examples
        --------
        >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: YUV400_U8 mean_chn_0: 3 }")
        >>> config.apply(np.arange(4, dtype=np.uint8).reshape(2, 2))[:, :, 0]
        array([[-3., -2.],
               [-1.,  0.]], dtype=float16)
        """
        return self.stages(src0, src1, profile=profile, block=block)[-1].pixels

    def block(self, number: int) -> AippOp:
        """Return one block, from 0."""
        return self.aipp_op[check_int("block", number, 0, len(self.aipp_op) - 1)]

    def _size(self, op: AippOp, prefix: str, given: tuple[int | None, int | None]) -> tuple[int, int]:
        """Return width and height: the file's, or the caller's where the file has none."""
        sizes = []
        for axis, value in zip("wh", given, strict=True):
            name = f"{prefix}_{axis}"
            own = getattr(op, name) if prefix != "crop_size" or op.crop else 0
            if value is not None:
                checked = check_int(name, value, 1, 4096)
                if own and checked != own:
                    raise ParameterError(name, value, f"{own}, which the file says")
                own = checked if prefix != "crop_size" or op.crop else 0
            sizes.append(own)
        return sizes[0], sizes[1]


def read_aipp_config(source: str | bytes | os.PathLike[str]) -> AippConfig:
    """Read an AIPP config file, or its text.

    Parameters
    ----------
    source : Path, str or bytes
        A path (`pathlib.Path` or another path object) is a file; str and bytes are the text itself, at most 64 KiB.

    Returns
    -------
    AippConfig
        The blocks with their fields.

    Raises
    ------
    AippConfigError
        What cannot be read: each place with line, column and what to write.
    FileProblemError
        A file that cannot be read: a folder, a pipe, one that is not there.
    ParameterError
        Another type.
    ImportError
        Without protobuf.

    Examples
    --------
    >>> read_aipp_config("aipp_op { aipp_mode: static  input_fromat: RGB888_U8 }")
    Traceback (most recent call last):
        ...
    ascendlab.errors.AippConfigError: line 1, column 30: input_fromat is no field of aipp_op. Write input_format
    """
    found = scan(read_config_text(source))
    message = _parse(found.text)
    blocks = []
    for op, block in zip(message.aipp_op, found.blocks, strict=True):  # type: ignore[attr-defined]
        values = {spec.name: value for spec, value in op.ListFields()}
        for name, members in _MEMBERS.items():
            if name in values:
                values[name] = members[values[name]]
        lines = {name: entry.line for name, entry in block.entries.items()}
        blocks.append(AippOp(MappingProxyType(values), MappingProxyType(lines), block.line, block.last_line))
    return AippConfig(found.text, tuple(blocks))


def read_config_text(source: str | bytes | os.PathLike[str]) -> str:
    """Return the text of a config file, whatever it says (see `read_aipp_config`)."""
    if isinstance(source, os.PathLike):
        source = read_regular(source, LARGEST_TEXT + 1)
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source[: LARGEST_TEXT + 1])
    if not isinstance(source, (str, bytes)):
        raise ParameterError("source", source, "a pathlib.Path of a file, or its text as str or bytes")
    return decode(source)


def _parse(text: str) -> Message:
    """Let protobuf read the text."""
    new_message, text_format = _protobuf()
    message: Message = new_message()
    try:
        text_format.Parse(text, message)
    except text_format.ParseError as error:
        words = str(error).partition(" : ")[2] or str(error)
        refuse(error.GetLine() or 1, error.GetColumn() or 1, words.rstrip("."), "That is protobuf's own message")
    return message


@lru_cache(maxsize=1)
def _protobuf() -> tuple[Any, Any]:
    """Import protobuf, and describe the message to it: name and kind of each field."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
    except ImportError as error:
        raise ImportError(
            "reading AIPP config files needs protobuf, which is part of pip install 'ascendlab[notebooks]'"
        ) from error
    file = descriptor_pb2.FileDescriptorProto(name="ascendlab_aipp_config.proto", package="domi")
    top, op = file.message_type.add(name="InsertNewOps"), file.message_type.add(name="AippOpParams")
    kinds, labels = descriptor_pb2.FieldDescriptorProto, descriptor_pb2.FieldDescriptorProto
    top.field.add(
        name="aipp_op", number=1, label=labels.LABEL_REPEATED, type=kinds.TYPE_MESSAGE, type_name=".domi.AippOpParams"
    )
    for enum, members in ENUMS.items():
        described = op.enum_type.add(name=enum)
        for name, number in members.items():
            described.value.add(name=name, number=number)
    for field in CONFIG_FIELDS.values():
        added = op.field.add(name=field.name, number=field.number, label=labels.LABEL_OPTIONAL)
        if field.kind in ENUMS:
            added.type, added.type_name = kinds.TYPE_ENUM, f".domi.AippOpParams.{field.kind}"
        else:
            added.type = kinds.Type.Value(f"TYPE_{field.kind.upper()}")
    pool = descriptor_pool.DescriptorPool()  # its own, so that no other package's message of this name gets in the way
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("domi.InsertNewOps")), text_format
