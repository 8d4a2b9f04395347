import { accepted, type HostileRow, refused } from './hostile-row.ts';
import { markBody, markTarget, raw, soundRequest } from './sound-request.ts';

const unknown = refused(404, 'NOT_FOUND');
const unsound = refused(400, 'INVALID_REQUEST');

const strangeTargets = [
  '/',
  '/api',
  '/api/',
  '/api/health/',
  '/api/health/x',
  '/api/service',
  '/api/service/dirty/',
  '/API/health',
  '/api/healthz',
  '/api/heal%74h',
  '/%61pi/health',
  '//api/health',
  '/api//health',
  '/api/./health',
  '/./api/health',
  '/api/x/../health',
  '/../api/health',
  '/..',
  '/api/%2e/health',
  '/api/x/%2e%2e/health',
  '/api/x/%2E%2E/health',
  '/api/x/.%2e/health',
  '/api/x/%252e%252e/health',
  '/api/x/..%2fhealth',
  '/api/x/..%5chealth',
  '/api/x/..\\health',
  '/api\\health',
  '/api/x/%c0%ae%c0%ae/health',
  '/api/x/%u002e%u002e/health',
  '/api/x/..;/health',
  '/api/health;x=1',
  '/api/health%00',
  '/api/health%0d%0ax:%20y',
  '/api/health%20',
  '/api/health#x',
  '/api/health?x#y',
  '/api/health?..\\..',
  '/api/health,',
  '/api/:name',
  '/api/*',
  '/api/service/*',
  '/.writ/service/service-token',
  '/service-token',
  '/.git/config',
  '/etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/favicon.ico',
  '/__proto__',
  '/constructor',
  '*',
  'http://127.0.0.1/api/health',
  'http://evil.example/api/health',
  'HTTP://LOCALHOST/api/health',
  'file:///etc/passwd',
  'ftp://127.0.0.1/api/health',
];

const targets: readonly HostileRow[] = [
  ...strangeTargets.map((target) => unknown(`GET ${target}`, (place) => soundRequest(place, { target }))),
  unknown('a mark through a strange target', (place) =>
    soundRequest(place, { target: '/api/service/dirty/%6dark', body: markBody }),
  ),
  unknown('a mark through an absolute target', (place) =>
    soundRequest(place, { target: `http://${place.host}${markTarget}`, body: markBody }),
  ),
  unknown('OPTIONS *', (place) => soundRequest(place, { method: 'OPTIONS', target: '*' })),
  unsound('a target beyond ASCII', (place) => soundRequest(place, { target: '/api/h\u00e9alth' })),
  unsound('a NUL in the target', (place) => soundRequest(place, { target: '/api/health\0' })),
  unsound('a target without a slash', (place) => soundRequest(place, { target: 'api/health' })),
  unsound('a blank in the target', (place) => soundRequest(place, { target: '/api/health x' })),
  unsound(
    'no target',
    raw(({ host }) => `GET HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
  ),
  refused(431, 'HEADERS_TOO_LARGE')('a target of 20,000 characters', (place) =>
    soundRequest(place, { target: `/${'x'.repeat(20_000)}` }),
  ),
  refused(431, 'HEADERS_TOO_LARGE')('a query of 20,000 characters', (place) =>
    soundRequest(place, { target: `/api/health?${'x'.repeat(20_000)}` }),
  ),
  unknown('a target of 8,000 segments', (place) => soundRequest(place, { target: '/a'.repeat(7000) })),
  ...['?', '?x', '?x=1&x=2', '?%', '?..%2f..%2f', '?a?b', '?__proto__=1'].map((query) =>
    accepted(`GET /api/health${query}`, (place) => soundRequest(place, { target: `/api/health${query}` })),
  ),
];

function notAllowed(method: string, target: string, allow: string): HostileRow {
  return {
    says: `${method} ${target}`,
    send: (place) => soundRequest(place, { method, target, headers: { 'x-svc-service-token': undefined } }),
    answers: [{ status: 405, allow, ...(method === 'HEAD' ? {} : { code: 'METHOD_NOT_ALLOWED' }) }],
  };
}

const methods: readonly HostileRow[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY'].map((method) =>
    notAllowed(method, '/api/health', 'GET, HEAD'),
  ),
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'].map((method) =>
    notAllowed(method, markTarget, 'POST'),
  ),
  notAllowed('POST', '/api/service/events', 'GET, HEAD'),
  notAllowed('DELETE', '/api/service/dirty', 'GET, HEAD'),
  notAllowed('GET', '/api/service/publish', 'POST'),
  {
    says: 'CONNECT to elsewhere',
    send: (place) => soundRequest(place, { method: 'CONNECT', target: 'evil.example:80' }),
    answers: [{ status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'GET, HEAD, POST' }],
  },
  refused(403, 'HOST_FORBIDDEN')('CONNECT with a foreign Host', (place) =>
    soundRequest(place, {
      method: 'CONNECT',
      target: 'evil.example:80',
      headers: { host: 'evil.example:80' },
    }),
  ),
  ...['get', 'Get', 'FOO', 'GETT', 'G'.repeat(1000), 'GET,POST', '\x00GET'].map((method) =>
    unsound(`the method ${JSON.stringify(method.slice(0, 12))}`, (place) => soundRequest(place, { method })),
  ),
  {
    says: 'another method in a header',
    send: (place) =>
      soundRequest(place, { target: markTarget, headers: { 'x-http-method-override': 'POST' } }),
    answers: [{ status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'POST' }],
  },
  {
    says: 'HEAD of the health',
    send: (place) => soundRequest(place, { method: 'HEAD' }),
    answers: [{ status: 200 }],
  },
  {
    says: 'HEAD of the events without a token',
    send: (place) =>
      soundRequest(place, {
        method: 'HEAD',
        target: '/api/service/events',
        headers: { 'x-svc-service-token': undefined },
      }),
    answers: [{ status: 401 }],
  },
];

/** What is asked for, and how. */
export const targetRows: readonly HostileRow[] = [...targets, ...methods];
