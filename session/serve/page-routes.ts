import type { ServerResponse } from 'node:http';
import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/route.ts';
import { answerHeaders } from '../../http/send-answer.ts';

/** Of the page and its files: nothing from elsewhere, nothing inline, nothing framed, no markup out of text. */
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

/**
 * The page of a session and its files (document 2, What the service does). They are read when a browser first asks:
 * whoever only speaks to the API pays nothing for them. A name that is none is NOT_FOUND.
 */
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
