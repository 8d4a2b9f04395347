import { foreignHosts } from '../../service/hostile/host-rows.ts';
import { everyRoute, type Mutation, mutations } from './mutation.ts';
import { sessionRequest, targetOf } from './session-request.ts';

const hosts = Object.fromEntries(
  foreignHosts.map((host) => [`Host: ${host.slice(0, 40)}`, { headers: { host } }]),
);

const origins = Object.fromEntries(
  [
    'http://evil.example',
    'null',
    '',
    'http://127.0.0.1',
    'http://127.0.0.1:1',
    'https://localhost',
    'file://',
    '*',
  ].map((origin) => [`Origin: ${origin}`, { headers: { origin } }]),
);

const sites = Object.fromEntries(
  ['cross-site', 'same-site', '', 'none, cross-site'].map((site) => [
    `Sec-Fetch-Site: ${site}`,
    { headers: { 'sec-fetch-site': site } },
  ]),
);

const targets: Readonly<Record<string, (target: string) => string>> = {
  'a slash behind it': (target) => `${target}/`,
  'a segment behind it': (target) => `${target}/x`,
  'an escaped letter': (target) => target.replace('/api', '/%61pi'),
  capitals: (target) => target.replace('/api', '/API'),
  'two slashes': (target) => target.replace('/code', '//code'),
  'a dot segment': (target) => target.replace('/code', '/./code'),
  'up and down again': (target) => target.replace('/code', '/x/../code'),
  'up and down again, escaped': (target) => target.replace('/code', '/x/%2e%2e/code'),
  'a backslash': (target) => target.replace('/code', '\\code'),
  'a parameter': (target) => `${target};x=1`,
  'an escaped NUL': (target) => `${target}%00`,
  'an absolute target': (target) => `http://127.0.0.1${target}`,
  'a fragment': (target) => `${target}#x`,
};

const wrongMethods: Readonly<Record<'GET' | 'POST', readonly string[]>> = {
  GET: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'],
  POST: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'],
};

/** Who is asked, on whose behalf, by which name and how. */
export const addressMutations: Readonly<Record<string, readonly Mutation[]>> = {
  'a Host that is not the loopback’s is refused': mutations(
    everyRoute,
    { status: 403, code: 'HOST_FORBIDDEN' },
    {
      ...hosts,
      'an empty Host': { headers: { host: '' } },
      'no Host': { headers: { host: undefined } },
      'the right Host twice': ({ host }) => ({ headers: { host: [host, host] } }),
      'a foreign Host behind a forwarded one': {
        headers: { host: 'evil.example', 'x-forwarded-host': '127.0.0.1' },
      },
    },
  ),
  'a page of another origin is refused': mutations(
    everyRoute,
    { status: 403, code: 'ORIGIN_REQUIRED' },
    {
      ...origins,
      ...sites,
      'our own Origin twice': ({ host }) => ({ headers: { origin: [`http://${host}`, `http://${host}`] } }),
      'our own Origin over https': ({ host }) => ({ headers: { origin: `https://${host}` } }),
      'our own Origin and more': ({ host }) => ({ headers: { origin: `http://${host}.evil.example` } }),
    },
  ),
  'a page of our own is let in': mutations(everyRoute, 'sound', {
    'our own Origin': ({ host }) => ({
      headers: { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
    }),
    'an address that somebody typed': { headers: { 'sec-fetch-site': 'none' } },
    'a forged peer': {
      headers: { 'x-forwarded-for': '10.0.0.1', forwarded: 'for=10.0.0.1;host=evil.example' },
    },
    'a query that says nothing': (place, line) => ({ target: `${targetOf(place, line)}?x=1` }),
    'an upgrade that is none': { headers: { upgrade: 'h2c', connection: 'upgrade' } },
  }),
  'what is served has one name': mutations(
    everyRoute,
    { status: 404, code: 'NOT_FOUND' },
    Object.fromEntries(
      Object.entries(targets).map(([says, change]) => [
        says,
        (place, line) => ({ target: change(targetOf(place, line)) }),
      ]),
    ),
  ),
  'what is served has one method': (['GET', 'POST'] as const).flatMap((method) =>
    mutations(
      (line) => line.method === method,
      { status: 405, code: 'METHOD_NOT_ALLOWED', allow: method === 'GET' ? 'GET, HEAD' : 'POST' },
      Object.fromEntries(wrongMethods[method].map((other) => [`${other} for ${method}`, { method: other }])),
    ),
  ),
  'what is no HTTP/1.1 is refused': mutations(
    everyRoute,
    { status: 400, code: 'INVALID_REQUEST' },
    {
      'HTTP/2.0': (place, line) => inFirstLine(sessionRequest(place, line), 'HTTP/1.1', 'HTTP/2.0'),
      'another method’s name in small letters': (place, line) =>
        inFirstLine(sessionRequest(place, line), line.method, line.method.toLowerCase()),
      'a NUL in the target': (place, line) => ({ target: `${targetOf(place, line)}\0` }),
      'a folded header': { headers: { x: 'a\r\n b' } },
      'a header without a name': { headers: { '': 'a' } },
    },
  ),
};

function inFirstLine(request: Buffer, from: string, to: string): Buffer {
  return Buffer.from(request.toString('latin1').replace(from, to), 'latin1');
}
