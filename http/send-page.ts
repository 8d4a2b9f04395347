import type { ServerResponse } from 'node:http';
import { answerHeaders } from './send-answer.ts';

/** Nothing of a page is run, loaded, framed or sent anywhere. */
const pageHeaders: Readonly<Record<string, string>> = {
  ...answerHeaders,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Answers 200 with a page of HTML that stands by itself: its scripts would not run. */
export function sendPage(response: ServerResponse, html: string): void {
  const body = Buffer.from(html);
  response.writeHead(200, { ...pageHeaders, 'content-length': body.length }).end(body);
}
