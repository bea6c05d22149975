"""The explorers' style sheet.  Colours of text and ground come from JupyterLab's theme; the picture stays white.

What has the focus is outlined.  A disabled slider shows no handle: the Tab key would stop there to no effect.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """<style>
.al-explorer { overflow: visible; }
.al-explorer .al-top, .al-explorer .al-code { flex-flow: row wrap; gap: 4px 16px; align-items: flex-start; }
.al-explorer .al-controls { flex: 0 0 376px; overflow: visible; }
.al-explorer .al-result { overflow: visible; }
.al-explorer .al-pinned { border-top: 1px solid var(--jp-border-color1, #bbb); margin-top: 6px; padding-top: 4px;
  overflow: visible; }
.al-explorer .al-groups { height: auto; }
.al-explorer .al-groups .widget-toggle-buttons { flex-flow: row wrap; }
.al-explorer .widget-html-content { line-height: 1.4; color: var(--jp-content-font-color1, #212121); }
.al-explorer .al-note { max-width: 362px; font-size: 12px; white-space: normal; padding: 2px 0 4px; }
.al-explorer [disabled] .noUi-handle { visibility: hidden; }
.al-explorer.jupyter-widgets :focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2) !important;
  outline-offset: 1px; }
.al-explorer .al-frame { position: relative; background: #fff; overflow: hidden; }
.al-explorer .al-frame img { display: block; max-width: none; }
.al-explorer .al-stale { position: absolute; left: 0; right: 0; top: 40%; margin: 0 auto; width: 22em; padding: 8px;
  text-align: center; font-weight: bold; line-height: 1.4; color: #000; background: #fff; border: 2px solid #D55E00; }
.al-explorer .al-summary, .al-explorer .al-origin { max-width: 700px; white-space: normal; min-height: 20px; }
.al-explorer .al-message { max-width: 700px; min-height: 46px; white-space: normal; }
.al-explorer .al-error, .al-explorer .al-warning { padding: 3px 8px; color: #000; border-left: 5px solid #D55E00;
  background: #fbe9dd; margin-bottom: 2px; }
.al-explorer .al-warning { border-left-color: #F0E442; background: #fdfbe3; }
.al-explorer .al-stacked { flex-flow: column nowrap; align-items: flex-start; }
.al-explorer .al-stacked > label { width: auto !important; height: 16px; text-align: left; font-size: 12px;
  line-height: 16px; }
.al-explorer .al-stacked > input { width: 92px; flex: none; height: 26px; }
.al-explorer textarea { font-family: var(--jp-code-font-family, monospace); font-size: 12px; white-space: pre; }
.al-explorer .al-file pre { height: auto; max-height: 420px; }
.al-explorer .al-file .al-error { display: block; white-space: normal;
  font-family: var(--jp-content-font-family, sans-serif); }
.al-explorer .al-file mark { background: #fbe9dd; color: #000; }
.al-explorer .al-stack { display: grid; overflow: visible; }
.al-explorer .al-stack > * { grid-area: 1 / 1; overflow: visible; }
.al-explorer .al-cpp, .al-explorer .al-python { flex: 1 1 420px; min-width: 0; }
.al-explorer .al-cpp .widget-html-content, .al-explorer .al-python .widget-html-content { min-width: 0; width: 100%; }
.al-explorer .al-heading { font-weight: bold; }
.al-explorer pre { white-space: pre; word-break: normal; height: 190px; overflow: auto; margin: 2px 0 0;
  padding: 6px 8px; font-size: 12px; line-height: 1.4;
  color: var(--jp-content-font-color1, #212121); background: var(--jp-layout-color2, #eee); }
</style>"""
