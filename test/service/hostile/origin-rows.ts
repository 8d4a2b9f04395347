import { accepted, type HostileRow, refused } from './hostile-row.ts';
import { healthRequest, markRequest, soundRequest } from './sound-request.ts';

const foreign = refused(403, 'ORIGIN_REQUIRED');

/** Requests that a browser sends for a page. */
export const originRows: readonly HostileRow[] = [
  ...['http://evil.example', 'null', '', 'http://127.0.0.1', 'http://127.0.0.1:1', 'file://', '*'].map(
    (origin) => foreign(`Origin: ${origin}`, healthRequest({ origin })),
  ),
  foreign('an Origin that only begins like our own', (place) =>
    soundRequest(place, { headers: { origin: `http://${place.host}.evil.example` } }),
  ),
  foreign('our own Origin over https', (place) =>
    soundRequest(place, { headers: { origin: `https://${place.host}` } }),
  ),
  foreign('our own Origin with a path', (place) =>
    soundRequest(place, { headers: { origin: `http://${place.host}/` } }),
  ),
  foreign('the loopback under another of its names', (place) =>
    soundRequest(place, { headers: { origin: `http://localhost:${place.port}` } }),
  ),
  foreign('our own Origin twice', (place) =>
    soundRequest(place, { headers: { origin: [`http://${place.host}`, `http://${place.host}`] } }),
  ),
  foreign('our own Origin and a foreign one', (place) =>
    soundRequest(place, { headers: { origin: [`http://${place.host}`, 'http://evil.example'] } }),
  ),
  foreign('ORIGIN in another case', healthRequest({ ORIGIN: 'HTTP://EVIL.EXAMPLE' })),
  foreign('a foreign Origin with the right token', markRequest({ origin: 'http://evil.example' })),
  ...['cross-site', 'same-site', 'Cross-Site', '', 'none, cross-site'].map((site) =>
    foreign(`Sec-Fetch-Site: ${site}`, healthRequest({ 'sec-fetch-site': site })),
  ),
  foreign('an image on a foreign page', healthRequest({ 'sec-fetch-site': 'cross-site', accept: 'image/*' })),
  foreign('two sites', healthRequest({ 'sec-fetch-site': ['none', 'cross-site'] })),
  foreign('a preflight', (place) =>
    soundRequest(place, {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
    }),
  ),
  accepted('our own Origin', (place) =>
    soundRequest(place, { headers: { origin: `http://${place.host}`, 'sec-fetch-site': 'same-origin' } }),
  ),
  accepted('our own Origin in another case', (place) =>
    soundRequest(place, { headers: { Origin: `HTTP://${place.host}` } }),
  ),
  accepted('an address that somebody typed', healthRequest({ 'sec-fetch-site': 'none' })),
];
