import t from 'tap';
import type { PublicLogSection } from '../../../attest/log/log-sections.ts';
import { chooseLog, readSigningConfig } from '../../../attest/public/public-log-source.ts';
import { sealingPlace } from '../sealing-place.ts';

const mediaType = 'application/vnd.dev.sigstore.signingconfig.v0.2+json';
const now = Date.parse('2026-06-01T00:00:00Z');
const service = (url: string, majorApiVersion: number, start: string, end?: string) => ({
  url,
  majorApiVersion,
  validFor: { start, ...(end === undefined ? {} : { end }) },
  operator: 'x.example',
});
const read = (config: object, at = now) =>
  readSigningConfig(Buffer.from(JSON.stringify({ mediaType, ...config })), at);

t.test('the first current log of the newest supported version is chosen', async (t) => {
  const rekorTlogUrls = [
    service('https://to-come.example', 2, '2026-07-01T00:00:00Z'),
    service('https://unspoken.example', 3, '2025-01-01T00:00:00Z'),
    service('https://old.example', 1, '2021-01-01T00:00:00Z'),
    service('https://shard.example/', 2, '2026-01-01T00:00:00Z'),
    service('https://other-shard.example', 2, '2025-06-01T00:00:00Z'),
    service('https://retired.example', 2, '2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'),
  ];
  t.strictSame(read({ rekorTlogUrls }).log, { url: 'https://shard.example', apiVersion: 2 });
  t.strictSame(
    read({ rekorTlogUrls }, Date.parse('2024-06-01T00:00:00Z')).log?.url,
    'https://retired.example',
  );
  t.strictSame(read({ rekorTlogUrls }, Date.parse('2022-06-01T00:00:00Z')).log?.apiVersion, 1);
  t.equal(read({ rekorTlogUrls }, Date.parse('2020-01-01T00:00:00Z')).log, undefined);
  t.strictSame(read({}), { log: undefined, certificates: undefined, timestamps: undefined });
});

t.test('a config that requires several logs, or is malformed, is refused', async (t) => {
  const rekorTlogUrls = [service('https://a.example', 2, '2026-01-01T00:00:00Z')];
  for (const rekorTlogConfig of [{ selector: 'ALL' }, { selector: 'EXACT', count: 2 }, { selector: 'EXACT' }])
    t.throws(() => read({ rekorTlogUrls, rekorTlogConfig }), { code: 'SIGNER_UNSUPPORTED' });
  t.ok(read({ rekorTlogUrls, rekorTlogConfig: { selector: 'EXACT', count: 1 } }).log);
  for (const config of [
    { mediaType: 'application/json' },
    { rekorTlogUrls: [{}] },
    { rekorTlogUrls: [service('http://a.example', 2, '2026-01-01T00:00:00Z')] },
    { rekorTlogUrls: [service('https://a.example', 0, '2026-01-01T00:00:00Z')] },
    { rekorTlogUrls: [service('https://a.example', 2, 'yesterday')] },
    { rekorTlogUrls: [{ ...service('https://a.example', 2, '2026-01-01T00:00:00Z'), validFor: {} }] },
  ])
    t.throws(() => read(config), { code: 'ATTESTATION_MALFORMED' }, JSON.stringify(config));
});

t.test('the config of the base commit names the log by a signing config or by a service', async (t) => {
  const config = JSON.stringify({
    mediaType,
    rekorTlogUrls: [service('https://a.example', 1, '2026-01-01T00:00:00Z')],
  });
  const place = (log: PublicLogSection, files: Record<string, string> = {}) =>
    sealingPlace('/nowhere', { log }, files);
  t.strictSame(await chooseLog(place({ signingConfig: 'c.json' }, { 'c.json': config }), now), {
    url: 'https://a.example',
    api: 'v1',
  });
  const service1 = { url: 'https://b.example', api: 'v2' } as const;
  t.strictSame(await chooseLog(place({ service: service1 }), now), service1);
  for (const bad of [
    place({}),
    place({ signingConfig: 'absent.json' }),
    place({ signingConfig: 'c.json' }, { 'c.json': '{' }),
    place({ signingConfig: 'c.json' }, { 'c.json': JSON.stringify({ mediaType }) }),
  ])
    await t.rejects(chooseLog(bad, now), { code: 'CONFIG_INVALID' });
});
