/** The pages that a session serves: its own page with assets, and the notice for other machines. */
import type { ServerResponse } from 'node:http';
import { WritError } from '../../core/base/errors.ts';
import { answerHeaders, type Route } from '../../http/send-answer.ts';

/** A value in an HTML page; unexpected characters are removed. */
function pageText(value: string): string {
  return value.replace(/[^\w.:+[\] -]/g, '').slice(0, 100);
}

/** A page without scripts and external files. `body` is HTML. */
function plainPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}code{font-size:.9em}</style>
<h1>${title}</h1>
${body}
</html>
`;
}

export interface NoticeFacts {
  /** Address that the server listens on. */
  readonly bind: string;
  readonly version: string;
  readonly commit: string;
}

/** The page that a browser on another machine gets instead of the session. */
export function remoteNotice({ bind, version, commit }: NoticeFacts): (remote: string) => string {
  return (remote) =>
    plainPage(
      'Only on that machine',
      `<p>A session of <code>writ code</code> is served here, only to the machine that it runs on.</p>
<p>To see it from yours, forward its port (<code>ssh -L</code>) and open the forwarded address.</p>
<dl><dt>It listens on</dt><dd><code>${pageText(bind)}</code></dd>
<dt>You come from</dt><dd><code>${pageText(remote)}</code></dd>
<dt>Version</dt><dd><code>${pageText(version)}</code></dd>
<dt>Commit</dt><dd><code>${pageText(commit)}</code></dd></dl>`,
    );
}

/** Policy for the page and its files: no external resources, no inline code, no framing, no markup from strings. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  ...answerHeaders,
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const forEver = 'public, max-age=31536000, immutable';

/** The page of a session and its assets, loaded on the first request. An unknown name is NOT_FOUND. */
export const pageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    isPage: true,
    answer: async ({ response }) => {
      const { pageDocument } = await load();
      send(response, pageDocument, { 'content-type': 'text/html; charset=utf-8' });
    },
  },
  {
    method: 'GET',
    path: '/assets/:name',
    isPage: true,
    answer: async ({ response, params: { name } }) => {
      const { assets } = await load();
      const asset = assets.find((one) => one.name === name);
      if (asset === undefined) throw new WritError('NOT_FOUND');
      const { contentType, sha256, text } = asset;
      send(response, text, {
        'content-type': contentType,
        'cache-control': forEver,
        etag: `"${sha256}"`,
      });
    },
  },
];

const load = (): Promise<typeof import('../web/assets.gen.ts')> => import('../web/assets.gen.ts');

function send(response: ServerResponse, text: string, more: Readonly<Record<string, string>>): void {
  const body = Buffer.from(text);
  response.writeHead(200, { ...headers, ...more, 'content-length': body.length }).end(body);
}
