import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeOutside, listening, publicAddress } from '../workspace/egress/client.ts';

interface Teardown {
  teardown(act: () => unknown): void;
}

/** Hosts that prove who they are; `impostor.example` cannot. */
const hosts = [
  ...[
    'api.search.brave.com',
    'html.duckduckgo.com',
    'docs.example.com',
    'www.example.net',
    'blocked.example',
  ],
  ...['xn--bcher-kva.example', 'inside.example', 'evil.example', 'registry.npmjs.org', 'model.example'],
];

let kept: { readonly key: Buffer; readonly cert: Buffer } | undefined;

/** A certificate of its own for all hosts, made once per process. */
function certificate(): NonNullable<typeof kept> {
  if (kept) return kept;
  const directory = mkdtempSync(join(tmpdir(), 'writ-web-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '7'],
      ...['-subj', '/CN=a web of a test', '-keyout', key, '-out', cert],
      ...['-addext', `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`],
    ],
    { stdio: 'ignore' },
  );
  kept = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(directory, { recursive: true, force: true });
  return kept;
}

class WebOutside extends FakeOutside {
  readonly authorities = [certificate().cert.toString('utf8')];
}

/** What a host of the world was asked. */
export interface SeenRequest {
  readonly host: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly secure: boolean;
}

/**
 * A web in which every host is this process: its names lead to public addresses, those to local servers, and TLS is
 * real. `answer` is asked with the host; `inside.example` leads to a private address.
 */
export async function openWebWorld(t: Teardown, answer: (host: string) => RequestListener | undefined) {
  const seen: SeenRequest[] = [];
  const listener =
    (secure: boolean): RequestListener =>
    (request, response) => {
      const host = request.headers.host ?? '';
      seen.push({ host, url: request.url ?? '', headers: request.headers, secure });
      const serve = answer(host);
      if (serve) serve(request, response);
      else response.writeHead(404).end();
    };
  const outside = new WebOutside();
  outside.ports.set(443, await listening(t, createServer(certificate(), listener(true))));
  outside.ports.set(80, await listening(t, createPlain(listener(false))));
  for (const host of [...hosts, 'impostor.example']) outside.names.set(host, [publicAddress]);
  outside.names.set('inside.example', ['10.0.0.7']);
  return { outside, seen };
}

/** A page of the keyless engine with these results, and an advertisement before them. */
export function duckPage(
  results: readonly (readonly [title: string, url: string, snippet: string])[],
): string {
  const link = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc`;
  const one = ([title, url, snippet]: (typeof results)[number], more = ''): string =>
    `<div class="result results_links ${more} web-result"><h2 class="result__title">
      <a rel="nofollow" class="result__a" href="${link(url)}">${title}</a></h2>
      <a class="result__snippet" href="${link(url)}">${snippet}</a></div>`;
  const ad = one(['Buy', 'https://www.example.net/ad', 'cheap'], 'result--ad');
  return `<!doctype html><title>x</title><script>"<a class='result__a'>"</script>${ad}${results.map((each) => one(each)).join('')}`;
}
