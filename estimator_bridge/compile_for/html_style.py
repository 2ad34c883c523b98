"""The CSS of a report's page, light and dark."""

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --line: #dfe3e8; --text: #1a1f26; --soft: #5b6573;
  --track: #e9ecf0; --good: #1a7f4b; --bad: #b3261e; --warn: #8a5a00;
  --one: #2f6fde; --two: #b8651b; --three: #2a8c82; --four: #8a5fc7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1d2126; --line: #343a42; --text: #e8ebef; --soft: #a3adb9;
    --track: #2d333b; --good: #62c792; --bad: #ff8a80; --warn: #e3b34f;
    --one: #6ea2ff; --two: #e59a52; --three: #55bfb4; --four: #b797ea;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem 4rem; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 0 0 .25rem; }
h3 { font-size: .95rem; margin: 1.5rem 0 .4rem; }
p { margin: .25rem 0; }
a { color: var(--one); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.1rem 1.25rem; margin-top: 1.25rem; }
.soft { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .32rem .9rem .32rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre { font: .85em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
td code { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--track);
  padding: .7rem .9rem;  border-radius: 6px; margin: .5rem 0 0; }
.place { display: block; color: var(--soft); }
.figures { display: flex; flex-wrap: wrap; gap: .5rem 2.2rem; margin-top: .7rem; }
.figures b { display: block; font-size: 1.15rem; font-weight: 600; }
.figures span { color: var(--soft); font-size: .82rem; }
.bar { display: flex; height: 1rem; border-radius: 4px; overflow: hidden;
  background: var(--track); }
.bar i { display: block; min-width: 2px; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.3rem; margin-top: .4rem; font-size: .84rem; }
.key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px;
  margin-right: .4rem; }
.one { background: var(--one); } .two { background: var(--two); }
.three { background: var(--three); } .four { background: var(--four); }
.times { display: grid; grid-template-columns: max-content 1fr max-content; gap: .35rem .9rem;
  align-items: center; font-size: .87rem; }
.times .bar { height: .75rem; }
td .bar { width: 6.5rem; height: .6rem; margin-top: .4rem; }
footer { margin-top: 1.5rem; color: var(--soft); font-size: .85rem; }
"""
