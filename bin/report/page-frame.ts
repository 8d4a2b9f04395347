import { sha256 } from '../../core/base/digest.ts';
import { escapeHtml } from './escape-html.ts';

/** What a page is made of; `head` and `body` are HTML, `title` is text. */
export interface PageParts {
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
