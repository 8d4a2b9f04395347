/* The HTML document of the page and the form of its assets. */

export function pageHtml({ script, style }: { readonly script: string; readonly style: string }): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>writ</title>
<link rel="icon" href="data:image/svg+xml,${icon}">
<link rel="stylesheet" href="/assets/${style}">
<div id="page"><p class="starting">Opening the session. This page needs scripts; without them ask <code>GET /api/code/session</code>.</p></div>
<script type="module" src="/assets/${script}"></script>
</html>
`;
}

const icon = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 3l3 10 3-8 3 8 3-10" fill="none" stroke="#777" stroke-width="2"/></svg>',
);

export interface Asset {
  /** With its digest in it: another content has another name. */
  readonly name: string;
  readonly contentType: string;
  /** Of the text in UTF-8, lower-case hex. */
  readonly sha256: string;
  readonly text: string;
}
