"""Controls, generated from the library's field tables: a documented range is never written a second time."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import ipywidgets as widgets

from ascendlab.errors import ParameterError
from ascendlab.fields import HALF_MAX, Field, Parameters, check_int, fields_of

__all__ = ["BoundControl", "Control", "choice", "control_of", "controls_of", "number", "parameters_from"]

Slider = tuple[float, float]
_REAL_TYPES = ("half", "float", "T")


@dataclass(frozen=True)
class Control:
    """One setting of an explorer, before it becomes widgets.

    Parameters
    ----------
    name : str
        Key in the explorer's state, and the label: a parameter's snake_case name.
    kind : {"int", "real", "flag", "choice", "text", "page"}
        Which widgets it gets: number box (and slider), check box, drop-down list, text field, field of many lines.
    default : object
        First value.
    help : str
        Tooltip: meaning, range, table.
    low, high : number
        What the box takes: the documented range.
    slider : (low, high), optional
        What the slider takes: the range that makes sense for the picture at hand; no slider without it.
    step : number, optional
        The slider's step; without it 1 for integers, and for others a round number that makes 200 steps or more.
    options : tuple of (str, object)
        Choices: label and value.
    check : callable, optional
        Returns a value in its stored form or raises the library's error.
    stacked : bool
        Label above the box instead of beside it, for tables of boxes.
    """

    name: str
    kind: str
    default: Any
    help: str = ""
    low: float = 0
    high: float = 0
    slider: Slider | None = None
    step: float | None = None
    options: tuple[tuple[str, Any], ...] = ()
    check: Callable[[Any], Any] = lambda value: value
    stacked: bool = False


def control_of(
    name: str,
    spec: Field,
    *,
    default: Any = None,
    slider: Slider | None = None,
    step: float | None = None,
    stacked: bool = False,
) -> Control:
    """Make the control of one documented field.

    Parameters
    ----------
    name : str
        Its Python name.
    spec : Field
        From `ascendlab.fields.fields_of`.
    default : object, optional
        First value, for fields that have no default of their own.
    slider : (low, high), optional
        The slider's range; number fields only.
    step : number, optional
        The slider's step.
    stacked : bool, optional
        Label above the box.
    """
    words = [spec.meaning, spec.range_text, spec.unit, spec.table]
    text = f"{spec.document_name}: " + " · ".join(word for word in words if word)
    first = default if default is not None else spec.default
    if spec.cpp_type == "bool":
        return Control(name, "flag", first, text, check=spec.check)
    if spec.choices:
        options = tuple((f"{value}: {words}", value) for value, words in spec.choices.items())
        return Control(name, "choice", first, text, options=options, check=spec.check)
    # A constant of the output type gets any half here; the call checks it against the type that is chosen.
    low, high = (-HALF_MAX if spec.low is None else spec.low), (HALF_MAX if spec.high is None else spec.high)
    kind = "real" if spec.cpp_type in _REAL_TYPES else "int"
    return Control(name, kind, first, text, low, high, slider, step, check=spec.check, stacked=stacked)


def controls_of(
    structure: type[Parameters],
    *,
    defaults: Mapping[str, Any] | None = None,
    sliders: Mapping[str, Slider] | None = None,
    steps: Mapping[str, float] | None = None,
    leave_out: Collection[str] = (),
    stacked: bool = False,
) -> list[Control]:
    """Make the controls of a structure's own fields (nested structures are left to their own call), in its order.

    Parameters
    ----------
    structure : type
        A parameter class.
    defaults : mapping, optional
        First values, by name, for fields that have none.
    sliders : mapping, optional
        The ends of sliders, by name; fields that are not named get a box alone.
    steps : mapping, optional
        Steps of sliders, by name.
    leave_out : collection of str, optional
        Fields without a control.
    stacked : bool, optional
        Labels above the boxes.

    Examples
    --------
    >>> from ascendlab import AippPaddingParams
    >>> [control.name for control in controls_of(AippPaddingParams)][:2]
    ['padding_mode', 'padding_value_ch0']
    """
    defaults, sliders, steps = defaults or {}, sliders or {}, steps or {}
    return [
        control_of(
            name, spec, default=defaults.get(name), slider=sliders.get(name), step=steps.get(name), stacked=stacked
        )
        for name, spec in fields_of(structure).items()
        if spec.structure is None and name not in leave_out
    ]


def choice(name: str, options: Mapping[str, Any], default: Any, words: str = "") -> Control:
    """Make a control that picks one of several values, which no field table describes (a product, a view)."""

    def check(value: Any) -> Any:
        # By type first: 0 is not False here, 9 is no member of an enumeration, and arrays compare element by element.
        for option in options.values():
            if value is option or (type(value) is type(option) and value == option):
                return option
        raise ParameterError(name, value, "one of " + ", ".join(str(option) for option in options.values()))

    return Control(name, "choice", default, words, options=tuple(options.items()), check=check)


def number(name: str, low: int, high: int, default: int, words: str = "", *, slider: Slider | None = None) -> Control:
    """Make a control for an integer that is no documented parameter (which element to look at)."""
    return Control(name, "int", default, words, low, high, slider, check=lambda v: check_int(name, v, low, high))


S = TypeVar("S", bound=Parameters)


def parameters_from(structure: type[S], state: Mapping[str, Any], rename: Mapping[str, str] | None = None) -> S:
    """Build a parameter object, nested ones included, from a state that holds its fields by name.

    Parameters
    ----------
    structure : type
        A parameter class.
    state : mapping
        An explorer's state.
    rename : mapping, optional
        Where the state has a field under another name: field name to state name.

    Raises
    ------
    ParameterError
        If the structure's own checks refuse a value.

    Examples
    --------
    >>> from ascendlab import AippSwapParams
    >>> state = {"is_swap_rb": True, "is_swap_uv": False, "is_swap_ax": False}
    >>> parameters_from(AippSwapParams, state).is_swap_rb
    True
    """
    rename = rename or {}
    values = {}
    for name, spec in fields_of(structure).items():
        if spec.structure is not None:
            values[name] = parameters_from(spec.structure, state, rename)
        elif rename.get(name, name) in state:
            values[name] = state[rename.get(name, name)]
    return structure(**values)


class Shapes:
    """The few layouts and styles that all controls of an explorer share: hundreds of models would slow a page down."""

    def __init__(self) -> None:
        self.box = widgets.Layout(width="222px")
        self.wide = widgets.Layout(width="360px")
        self.stacked = widgets.Layout(width="116px", height="auto")
        self.slider = widgets.Layout(width="126px", margin="2px 0 2px 6px")
        self.row = widgets.Layout(width="362px")
        self._styles: dict[Any, Any] = {}

    def make(self, kind: Any, *, label: str = "138px", **more: Any) -> Any:
        """Make a widget whose style is shared by all widgets of its kind; `label` is the label's width."""
        made = kind(style=self._styles.get(kind, {"description_width": label}), **more)
        self._styles[kind] = made.style
        return made


def _round_step(step: float) -> float:
    """Return the largest of 1, 0.1, 0.01 ... that is not above a step, at most 1.

    >>> _round_step(1.28), _round_step(0.05)
    (1.0, 0.01)
    """
    return float(10.0 ** min(0, math.floor(math.log10(step))))


class BoundControl:
    """A control's widgets, tied to each other and to a callback.

    Parameters
    ----------
    control : Control
        What to build.
    shapes : Shapes
        Shared layouts.
    changed : callable
        Called with (name, value) when the reader changes something.

    Attributes
    ----------
    box : Widget
        The named, typeable widget: number box, check box, list or text field.
    slider : Widget or None
        Linked to the box.
    widget : Widget
        Both together.
    """

    def __init__(self, control: Control, shapes: Shapes, changed: Callable[[str, Any], None]) -> None:
        self.control = control
        self.slider: Any = None
        self._quiet = False
        self._shown_place = 0
        self.box = self._make_box(shapes)
        self.box.add_class(f"al-param-{control.name}")
        self.box.tooltip = control.help
        self._changed = changed
        self.box.observe(self._tell, "value")
        self.widget: Any = self.box
        if control.slider is not None:
            kind = widgets.IntSlider if control.kind == "int" else widgets.FloatSlider
            low, high = control.slider
            step = control.step or (1 if control.kind == "int" else _round_step((high - low) / 200))
            self.slider = shapes.make(
                kind, label="0", min=low, max=high, step=step, value=low, readout=False, layout=shapes.slider
            )
            self.slider.tooltip = control.help
            self.slider.add_class(f"al-slider-{control.name}")
            self.slider.observe(self._tell_slider, "value")
            self.widget = widgets.HBox([self.box, self.slider], layout=shapes.row)
        self.set(control.default)

    def _make_box(self, shapes: Shapes) -> Any:
        control = self.control
        named = {"description": control.name, "value": control.default, "layout": shapes.wide}
        if control.kind == "flag":
            return shapes.make(widgets.Checkbox, label="0", indent=False, **named)
        if control.kind == "choice":
            return shapes.make(widgets.Dropdown, options=control.options, **named)
        if control.kind == "text":
            return shapes.make(widgets.Text, continuous_update=False, **named)
        if control.kind == "page":
            return shapes.make(widgets.Textarea, label="0", rows=14, continuous_update=False, **named)
        named["layout"] = shapes.stacked if control.stacked else shapes.box
        kind = widgets.BoundedIntText if control.kind == "int" else widgets.BoundedFloatText
        more: dict[str, Any] = {} if control.kind == "int" else {"step": None}
        box = shapes.make(kind, min=control.low, max=control.high, **named, **more)
        if control.stacked:
            box.add_class("al-stacked")
        return box

    def _tell(self, change: Mapping[str, Any]) -> None:
        if not self._quiet:
            self._changed(self.control.name, change["new"])

    def _tell_slider(self, change: Mapping[str, Any]) -> None:
        # A browser's slider snaps to its steps and reports that back; only another step is the reader's doing.
        place = self._place(change["new"])
        if not self._quiet and place != self._shown_place:
            self._changed(self.control.name, self._at(place))

    def _place(self, value: float) -> int:
        """Return the number of the slider's step that is nearest to a value."""
        nearest = min(max(value, self.slider.min), self.slider.max)
        place: int = round((nearest - self.slider.min) / self.slider.step)
        return place

    def _at(self, place: int) -> Any:
        value = self.slider.min + place * self.slider.step
        return value if self.control.kind == "int" else round(value, 6)

    def _show_on_slider(self, value: float) -> None:
        self._shown_place = self._place(value)
        self.slider.value = self._at(self._shown_place)

    def set(self, value: Any) -> None:
        """Show a value without calling back; the slider stops at its ends if the value lies beyond them."""
        self._quiet = True
        try:
            self.box.value = value
            if self.slider is not None:
                self._show_on_slider(value)
        finally:
            self._quiet = False

    def set_slider(self, low: float, high: float) -> None:
        """Give the slider other ends, without calling back."""
        if self.slider is None or (self.slider.min, self.slider.max) == (low, high):
            return
        self._quiet = True
        try:
            if low > self.slider.max:
                self.slider.max = high
            self.slider.min = low
            self.slider.max = high
            self._show_on_slider(self.box.value)
        finally:
            self._quiet = False

    def set_lacking(self, reason: str) -> None:
        """Disable the control for a reason, or enable it for an empty one."""
        for part in (self.box, self.slider):
            if part is not None and part.disabled != bool(reason):
                part.disabled = bool(reason)
                part.tooltip = reason or self.control.help
