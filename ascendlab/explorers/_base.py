"""What all explorers share: controls, one picture area, texts, errors in words, and the state behind them.

An explorer of one API is a small subclass of `Explorer`: it lists its groups of controls and says, in
`Explorer.show`, what is to be shown for a state.  It calls the library and a plot, and computes nothing itself:

    class MyExplorer(Explorer):
        def groups(self):
            return [Group("Window", controls_of(LoadImageToLocalParams, defaults=..., sliders=...), note="...")]

        def show(self, state):
            params = parameters_from(LoadImageToLocalParams, state)
            ...
            return Shown(png=live.png(), alt="...", summary=summarise(result), origin="...", cpp="...", python="...")

From the controls to the picture there is one way: a widget changes the state, the state calls `show`, and what
`show` returns goes into the picture area and the texts.  If the library refuses the state, its message is shown and
the old picture is marked as old.
"""

from __future__ import annotations

import difflib
import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from ascendlab.errors import AscendlabError, AscendlabWarning, ParameterError
from ascendlab.explorers._controls import BoundControl, Control, Shapes, Slider
from ascendlab.explorers._state import State
from ascendlab.explorers._style import STYLE
from ascendlab.plots import PictureHTML
from ascendlab.plots._base import image_html
from ascendlab.summary import Occupancy

__all__ = ["Explorer", "Group", "Shown"]


@dataclass(frozen=True)
class Group:
    """Controls that belong together; the reader sees one group at a time.

    Parameters
    ----------
    title : str
        On the button that opens it.
    controls : sequence of Control
        From top to bottom.
    note : str, optional
        A sentence above them: which table of the document, what to know.
    columns : int, optional
        How many stacked controls stand side by side.
    pinned : bool, optional
        Always visible, below the group that is open: what is looked at rather than what is computed.
    """

    title: str
    controls: Sequence[Control]
    note: str = ""
    columns: int = 3
    pinned: bool = False


@dataclass(frozen=True)
class Shown:
    """Everything an explorer shows for one state.

    Parameters
    ----------
    png : bytes
        The picture, of the explorer's `Explorer.size`.
    alt : str
        What the picture shows, in words, with the numbers that matter.
    summary : str
        Shape, type, bytes, checksum: see `ascendlab.summary.summarise`.
    origin : str
        Where the picked element came from.
    cpp, python : str
        The equivalent code.
    occupancy : Occupancy, optional
        How full the buffer gets; drawn as a meter.
    """

    png: bytes
    alt: str
    summary: str
    origin: str
    cpp: str
    python: str
    occupancy: Occupancy | None = None


class Explorer(widgets.VBox):  # type: ignore[misc]
    """Controls on the left, the picture on the right, code below; everything follows from `state`.

    Parameters
    ----------
    group : str, optional
        Title of the group that is open at first.
    **preset
        First values, by the names of the controls.

    Attributes
    ----------
    state : State
        The present values; read-only for users, who call `set`.
    controls : dict of str to BoundControl
        Each control's widgets.
    shown : Shown or None
        What was shown last.

    Raises
    ------
    ParameterError
        For a preset that no control has, or that its control refuses.

    Notes
    -----
    CSS classes, for tests and for styling: ``al-explorer`` (the whole), ``al-picture``, ``al-summary``,
    ``al-origin``, ``al-message``, ``al-cpp``, ``al-python``, ``al-groups`` (the buttons that open groups),
    ``al-param-<name>`` (each control's named box) and ``al-slider-<name>``.
    """

    size: tuple[int, int] = (700, 440)
    """The picture's size in CSS pixels, the same for every state."""

    title: str = ""
    """Heading, and the accessible name of the picture area."""

    # What subclasses say -------------------------------------------------------------------------------------------

    def groups(self) -> list[Group]:
        """Return the groups of controls."""
        raise NotImplementedError

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Make everything that is shown for a state, or raise what the library raises."""
        raise NotImplementedError

    def show_refused(self, state: Mapping[str, Any], error: AscendlabError) -> Shown | None:
        """Make what can be shown although the library has refused the state: how far a kernel came, say.

        Without it the last possible setting stays, marked as old.
        """
        return None

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what else changes when the reader changes this: a preset's numbers, the window of a new picture.

        Parameters
        ----------
        changes : mapping
            What was just set, by name.
        state : mapping
            Everything, `changes` included.

        Returns
        -------
        mapping
            More changes; names that are in `changes` are ignored.
        """
        return {}

    def settle(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what cannot stay as it is in a new state, whoever set it: the name of numbers that are others now."""
        return {}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """Return the ends of sliders that depend on the state (on the picture's size, say); called after `show`."""
        return {}

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Return why controls have no effect or do not exist here (on this product, say), by name.

        Such a control is disabled as long as it stands at its default; one that was set before stays enabled, so
        that the reader can undo what the message complains of.
        """
        return {}

    # What they get -------------------------------------------------------------------------------------------------

    def __init__(self, *, group: str | None = None, **preset: Any) -> None:
        self._group_list = self.groups()
        shapes = Shapes()
        self.controls = {
            control.name: BoundControl(control, shapes, self._changed_by_reader)
            for part in self._group_list
            for control in part.controls
        }
        self.shown: Shown | None = None
        self._start = self._first_values(preset)
        self.state = State(self._start)
        self.state.observe(self._refresh)
        children = self._build(group)
        super().__init__(children)
        self.add_class("al-explorer")
        self._refresh(frozenset(self.state))

    def _first_values(self, preset: Mapping[str, Any]) -> dict[str, Any]:
        defaults = {name: bound.control.default for name, bound in self.controls.items()}
        checked = self._checked(preset)
        values = {**defaults, **checked}
        if checked:
            values = {**values, **self.follow(checked, values), **checked}
            values.update(self.settle(values))
        return values

    def _checked(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        for name in changes:
            if name not in self.controls:
                close = difflib.get_close_matches(name, self.controls, n=1)
                hint = f"Did you mean {close[0]}?" if close else ""
                allowed = "the name of a control: " + ", ".join(self.controls)
                raise ParameterError(name, changes[name], allowed, hint=hint)
        return {name: self.controls[name].control.check(value) for name, value in changes.items()}

    def set(self, **changes: Any) -> None:
        """Change several settings at once, as the reader would one by one; everything is redrawn once.

        Raises
        ------
        ParameterError
            For a name that no control has and for a value that its control refuses.
        """
        checked = self._checked(changes)
        values = {**self.state, **checked}
        values = {**values, **self.follow(checked, values), **checked}
        self.state.update({**values, **self.settle(values)})

    def reset(self) -> None:
        """Go back to the first values."""
        self.state.update(self._start)

    def still(self) -> PictureHTML:
        """Return the present picture on its own, for a notebook that is read without being run."""
        assert self.shown is not None
        return PictureHTML(self.shown.png, self.shown.alt, *self.size)

    def __repr__(self) -> str:
        # What a notebook shows where no kernel runs.
        return f"<explorer: {self.title or type(self).__name__}; run this cell to use it>"

    def _changed_by_reader(self, name: str, value: Any) -> None:
        try:
            self.set(**{name: value})
        except AscendlabError as error:
            self.controls[name].set(self.state[name])
            self._say(str(error))

    def _refresh(self, changed: frozenset[str]) -> None:
        """Bring controls, picture and texts in line with the state."""
        for name in changed:
            self.controls[name].set(self.state[name])
        reasons = self.lacking(self.state)
        for name, bound in self.controls.items():
            untouched = self.state[name] == bound.control.default
            bound.set_lacking(reasons.get(name, "") if untouched else "")
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", AscendlabWarning)
                shown = self.show(self.state)
        except AscendlabError as error:
            self._show_refusal(str(error), self.show_refused(self.state, error))
        except Exception as error:
            self._show_refusal(f"This is a mistake in ascendlab, please report it: {error!r}")
            raise
        else:
            notes = [warning for warning in caught if issubclass(warning.category, AscendlabWarning)]
            foreign = [warning for warning in caught if warning not in notes]
            self._show(shown, list(dict.fromkeys(str(warning.message) for warning in notes)))
            for warning in foreign:  # nothing that a reader of the panel could act on: it goes where it would have gone
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        for name, (low, high) in self.sliders(self.state).items():
            self.controls[name].set_slider(low, high)

    # Widgets -------------------------------------------------------------------------------------------------------

    def _build(self, group: str | None) -> list[widgets.Widget]:
        titles = [part.title for part in self._group_list if not part.pinned]
        if group is not None and not (isinstance(group, str) and group in titles):
            raise ParameterError("group", group, "one of " + ", ".join(titles))
        self.groups_bar = widgets.ToggleButtons(
            options=titles, value=group or titles[0], layout=widgets.Layout(width="372px")
        )
        self.groups_bar.style.button_width = "auto"
        self.groups_bar.add_class("al-groups")
        self.groups_bar.observe(lambda change: self._open(change["new"]), "value")
        boxes = {part.title: self._build_group(part) for part in self._group_list}
        self._boxes = {title: boxes[title] for title in titles}
        pinned = [boxes[part.title] for part in self._group_list if part.pinned]
        for box in pinned:
            box.add_class("al-pinned")
        self.reset_button = widgets.Button(description="Reset", tooltip="Back to the first values")
        self.reset_button.add_class("al-reset")
        self.reset_button.on_click(lambda _: self.reset())
        # All groups lie on top of each other, so that the page keeps its height whichever is open.
        stack = widgets.Box(list(self._boxes.values()))
        stack.add_class("al-stack")
        left = widgets.VBox([self.groups_bar, stack, *pinned, self.reset_button])
        left.add_class("al-controls")
        self.picture, self.message, self.summary, self.origin, self.cpp, self.python = (
            widgets.HTML() for _ in range(6)
        )
        names = ("picture", "message", "summary", "origin", "cpp", "python")
        for name in names:
            getattr(self, name).add_class(f"al-{name}")
        right = widgets.VBox([self.picture, self.message, self.summary, self.origin])
        right.add_class("al-result")
        top = widgets.HBox([left, right])
        top.add_class("al-top")
        code = widgets.HBox([self.cpp, self.python])
        code.add_class("al-code")
        self._open(self.groups_bar.value)
        return [widgets.HTML(STYLE), top, code]

    def _build_group(self, part: Group) -> widgets.VBox:
        rows: list[widgets.Widget] = []
        if part.note:
            note = widgets.HTML(f'<div class="al-note">{html.escape(part.note)}</div>')
            rows.append(note)
        stacked = [self.controls[c.name].widget for c in part.controls if c.stacked]
        plain = [self.controls[c.name].widget for c in part.controls if not c.stacked]
        rows += plain
        if stacked:
            columns = f"repeat({part.columns}, 118px)"
            rows.append(widgets.GridBox(stacked, layout=widgets.Layout(grid_template_columns=columns)))
        return widgets.VBox(rows)

    def _open(self, title: str) -> None:
        for name, box in self._boxes.items():
            box.layout.visibility = "visible" if name == title else "hidden"

    # Showing -------------------------------------------------------------------------------------------------------

    def _show(self, shown: Shown, notes: list[str]) -> None:
        self.shown = shown
        self.picture.value = self._picture_html(shown, stale=False)
        self._say("", notes)
        self._write(shown, "")

    def _show_refusal(self, words: str, instead: Shown | None = None) -> None:
        if instead is not None:
            self._show(instead, [])
        elif self.shown is None:
            self.picture.value = self._frame('<p class="al-stale">No picture yet.</p>')
        else:
            self.picture.value = self._picture_html(self.shown, stale=True)
            self._write(self.shown, " of the last possible setting")
        self._say(words)

    def _frame(self, content: str) -> str:
        width, height = self.size
        return f'<div class="al-frame" style="width:{width}px;height:{height}px">{content}</div>'

    def _picture_html(self, shown: Shown, *, stale: bool) -> str:
        note, style, alt = "", "", shown.alt
        if stale:
            note = '<p class="al-stale">Not possible. This is the last possible setting.</p>'
            style = "filter:grayscale(1);opacity:0.3"
            alt = f"Out of date, from the last possible setting. {alt}"
        return self._frame(image_html(shown.png, alt, *self.size, style=style) + note)

    def _say(self, refusal: str, notes: Sequence[str] = ()) -> None:
        lines = [f'<div class="al-error"><b>Not possible:</b> {html.escape(refusal)}</div>'] if refusal else []
        lines += [f'<div class="al-warning"><b>Note:</b> {html.escape(note)}</div>' for note in notes]
        self.message.value = f'<div role="status">{"".join(lines)}</div>'

    def _write(self, shown: Shown, of_what: str) -> None:
        meter = ""
        if shown.occupancy is not None:
            used, room = shown.occupancy.used, shown.occupancy.available
            name = html.escape(f"bytes used in {shown.occupancy.buffer}")
            ends = f'max="{max(room, used)}" low="{room}" high="{room}" optimum="0"'  # red beyond the buffer's end
            bar = f'<meter aria-label="{name}" {ends} value="{used}"></meter>'
            meter = f"<div>{bar} {html.escape(str(shown.occupancy))}</div>"
        before = f"<b>Result{of_what}:</b> "
        self.summary.value = f"<div>{before}{html.escape(shown.summary)}</div>{meter}"
        self.origin.value = f"<div><b>Where from{of_what}?</b> {html.escape(shown.origin)}</div>"
        for widget, language, text in ((self.cpp, "Ascend C", shown.cpp), (self.python, "Python", shown.python)):
            heading = f"{language}{of_what}"
            widget.value = (
                f'<div class="al-heading">{heading}</div>'
                f'<pre tabindex="0" role="group" aria-label="{heading} code"><code>{html.escape(text)}</code></pre>'
            )
