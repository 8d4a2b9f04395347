import { accepted, type HostileRow, refused } from './hostile-row.ts';
import { healthRequest, raw, soundRequest } from './sound-request.ts';

const forbidden = refused(403, 'HOST_FORBIDDEN');

/** What a `Host` may not say. */
export const foreignHosts = [
  'evil.example',
  'evil.example:80',
  '127.0.0.1.evil.example',
  'localhost.evil',
  'evil.localhost',
  'localhost.',
  '127.0.0.1.',
  '0.0.0.0',
  '192.168.0.1',
  '127.1',
  '127.0.0.256',
  '127.000.000.001',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '017700000001',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::]',
  '[::1',
  '[::1%25lo]',
  '::1',
  'user@127.0.0.1',
  'user:secret@localhost',
  '127.0.0.1:',
  '127.0.0.1:123456',
  '127.0.0.1:80:80',
  '127.0.0.1:-1',
  '127.0.0.1/',
  '127.0.0.1#@evil.example',
  '127.0.0.1, 127.0.0.1',
  'local host',
  'localhost\u00e9',
  'x'.repeat(8000),
];

/**
 * Names under which a page could reach us (DNS rebinding), and shapes that are read as one thing here and as another
 * there.
 */
export const hostRows: readonly HostileRow[] = [
  ...foreignHosts.map((host) => forbidden(`Host: ${host.slice(0, 40)}`, healthRequest({ host }))),
  forbidden('an empty Host', healthRequest({ host: '' })),
  forbidden('no Host', healthRequest({ host: undefined })),
  forbidden(
    'the right Host twice',
    raw(({ host }) => `GET /api/health HTTP/1.1\r\nHost: ${host}\r\nHOST: ${host}\r\n\r\n`),
  ),
  forbidden('a foreign Host and the right one', healthRequest({ host: ['evil.example', '127.0.0.1'] })),
  forbidden(
    'a foreign Host behind a forwarded one',
    healthRequest({ host: 'evil.example', 'x-forwarded-host': '127.0.0.1' }),
  ),
  forbidden('a foreign Host and the right token', (place) =>
    soundRequest(place, { target: '/api/service/dirty', headers: { host: 'evil.example' } }),
  ),
  forbidden(
    'the right Host, and behind 900 short headers a foreign one',
    raw(
      ({ host }) => `GET /api/health HTTP/1.1\r\nhost: ${host}\r\n${'a:\r\n'.repeat(900)}host: evil\r\n\r\n`,
    ),
  ),
  forbidden(
    'the right Host, and behind 3,000 short headers a foreign one',
    raw(
      ({ host }) => `GET /api/health HTTP/1.1\r\nhost: ${host}\r\n${'a:\r\n'.repeat(3000)}host: evil\r\n\r\n`,
    ),
  ),
  ...[
    'localhost',
    'LocalHost:1',
    '127.255.255.254:9',
    '[::1]',
    '[0:0::1]:80',
    '127.0.0.1:99999',
    'localhost:080',
  ].map((host) => accepted(`Host: ${host}`, healthRequest({ host }))),
];
