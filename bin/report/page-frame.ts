/* The frame of every HTML page: escaping, style and content security policy. */
import { revealHidden } from '../../api/envelope.ts';
import { sha256 } from '../../core/base/canonical.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Untrusted text for HTML content and quoted attributes, at most `maxLength` characters; hidden characters are named.
 */
export function escapeHtml(text: string, maxLength = 4000): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  const plain = bounded.replace(/[&<>"'`]/g, (found) => entities[found] ?? '');
  return revealHidden(plain, (found, code) =>
    found === '\n' || found === '\t' ? found : `[U+${code.toUpperCase().padStart(4, '0')}]`,
  );
}

/** What a page is made of; `head` and `body` are HTML, `title` is text. */
interface PageParts {
  readonly title: string;
  readonly style: string;
  readonly script?: string;
  /** Its top line. */
  readonly head: string;
  /** Between the top line and the foot. */
  readonly main: string;
  readonly foot: string;
}

/**
 * One self-contained page: its policy lets this style and this script in by their digests, and no request, form or
 * other code at all.
 */
export function pageFrame({ title, style, script, head, main, foot }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `style-src '${digestOf(style)}'`,
    ...(script === undefined ? [] : [`script-src '${digestOf(script)}'`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title, 300)}</title>
<style>${style}</style>
</head>
<body>
<div class="sheet">
<header class="top">${head}</header>
<main>
${main}
</main>
<footer>${foot}</footer>
</div>
${script === undefined ? '' : `<script>${script}</script>\n`}</body>
</html>
`;
}

function digestOf(text: string): string {
  return `sha256-${sha256(text).toString('base64')}`;
}

/** Style sheet of the HTML report. The page's content security policy contains its SHA-256. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: #f6f6f3; --card: #ffffff; --ink: #1c1d1f; --soft: #5b5e63; --line: #dedfd9; --code: #f0f0ec;
  --good: #176a3a; --good-wash: #e5f3ea; --bad: #a8261d; --bad-wash: #fbeae8; --open: #7a5200; --open-wash: #f9f0da;
  --bar: #7d93ab; --track: #e9eae5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131416; --card: #1b1d20; --ink: #e8e8e4; --soft: #a3a7ad; --line: #313439; --code: #25282c;
    --good: #6fd197; --good-wash: #16301f; --bad: #ff9a90; --bad-wash: #3a1c19; --open: #ecc36a; --open-wash: #352a12;
    --bar: #7f97b2; --track: #2a2d32;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
.sheet { max-width: 64rem; margin: 0 auto; padding: 1rem 1rem 3rem; }
h1, h2, h3, p, dl, dd, ul, ol, pre { margin: 0; }
h2 { font-size: 1rem; font-weight: 650; margin: 2rem 0 .6rem; }
h3 { font-size: .95rem; font-weight: 650; }
ul { padding: 0; list-style: none; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .85em; }
code, p, li, td, dd, h1, summary { overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.small { font-size: .85rem; }
bdi { unicode-bidi: isolate; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; }
.card + .card { margin-top: .6rem; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .1rem 0 .7rem; color: var(--soft); font-size: .85rem; }
.top strong { color: var(--ink); letter-spacing: .02em; }
.decision { border-left-width: 5px; padding: 1.1rem 1.2rem; }
.decision.good { border-left-color: var(--good); } .decision.bad { border-left-color: var(--bad); } .decision.open { border-left-color: var(--open); }
.decision h1 { font-size: 1.65rem; line-height: 1.2; font-weight: 700; letter-spacing: -.01em; }
.good h1 { color: var(--good); } .bad h1 { color: var(--bad); } .open h1 { color: var(--open); }
.summary { font-weight: 600; margin-top: .35rem; }
.message { white-space: pre-wrap; }
.decision .message { margin-top: .35rem; }
.decision .lead { font-size: 1.08rem; }
.decision h2 { margin: .9rem 0 .4rem; }
.notices { margin-top: .6rem; }
.pairs li + li { margin-top: .25rem; }
.diff { margin-top: .3rem; }
.diff .add { background: var(--good-wash); color: var(--good); }
.diff .del { background: var(--bad-wash); color: var(--bad); }
.commit { margin-top: .6rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.4rem, 1fr)); gap: .1rem 1rem; margin-top: .9rem; padding-top: .8rem; border-top: 1px solid var(--line); }
.facts dt, .pairs dt { color: var(--soft); font-size: .8rem; }
.facts dd { font-weight: 600; font-variant-numeric: tabular-nums; }
nav { margin-top: .8rem; font-size: .85rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
a { color: inherit; text-underline-offset: .2em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
.pill { display: inline-block; padding: 0 .5em; border-radius: 1em; font-size: .78rem; font-weight: 650; line-height: 1.6; white-space: nowrap; background: var(--code); color: var(--soft); }
.pill.good { background: var(--good-wash); color: var(--good); }
.pill.bad { background: var(--bad-wash); color: var(--bad); }
.pill.open { background: var(--open-wash); color: var(--open); }
.stage-head { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem .7rem; }
.stage-head h3 { text-transform: capitalize; }
.stage-head .soft { margin-left: auto; font-size: .85rem; font-variant-numeric: tabular-nums; }
details { margin-top: .5rem; }
.card > details:first-child, .card > table:first-child { margin-top: 0; }
.card > .findings:first-child > li:first-child { padding-top: 0; }
.card > .findings:last-child > li:last-child { padding-bottom: 0; }
summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
table { width: 100%; border-collapse: collapse; margin-top: .4rem; font-size: .88rem; table-layout: fixed; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: .78rem; padding: .2rem .6rem .2rem 0; }
td { padding: .35rem .6rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
td .soft { font-size: .8rem; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
.checks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.outcome { width: 12rem; } .took { width: 30%; } .when { width: 9.5rem; }
.checks tr:first-child td { border-top: 0; }
.size { width: 5.2rem; } .counts { width: 6rem; } .change { width: 5rem; }
.bar { display: block; width: 100%; height: 6px; margin-top: .3rem; border-radius: 3px; background: var(--track); }
.bar rect { fill: var(--bar); }
.bar.bad rect { fill: var(--bad); }
.findings li { border-top: 1px solid var(--line); padding: .45rem 0; font-size: .9rem; }
.findings li:first-child { border-top: 0; }
.findings .where { display: block; color: var(--soft); font-size: .82rem; }
.stage .findings { margin-top: .5rem; }
.pairs { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: .35rem 1rem; font-size: .9rem; }
pre { background: var(--code); border-radius: 6px; padding: .55rem .7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.next li + li { margin-top: .7rem; }
footer { margin-top: 2rem; color: var(--soft); font-size: .8rem; }
@media (max-width: 34rem) {
  .sheet { padding: .7rem .7rem 2rem; }
  .decision h1 { font-size: 1.45rem; }
  .pairs { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .pairs dd + dt { margin-top: .5rem; }
  .outcome { width: 6.2rem; } .took { width: 5rem; } .when { width: 5.5rem; } .size { width: 4.6rem; }
}
@media print {
  :root {
    color-scheme: light;
    --page: #fff; --card: #fff; --ink: #000; --soft: #333; --line: #999; --code: #fff;
    --good: #000; --good-wash: #fff; --bad: #000; --bad-wash: #fff; --open: #000; --open-wash: #fff;
    --bar: #555; --track: #ddd;
  }
  .sheet { max-width: none; padding: 0; }
  nav { display: none; }
  h2, h3, thead, .stage-head { break-after: avoid; }
  tr, li, dt, .decision, .stage-head { break-inside: avoid; }
  .card { border-radius: 0; }
  .pill { border: 1px solid currentColor; }
  /* What is folded on a screen is part of the paper. */
  details::details-content { display: block; height: auto; content-visibility: visible; }
  summary { list-style: none; }
}
`;
