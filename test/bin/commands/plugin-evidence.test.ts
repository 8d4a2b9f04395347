import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { evidenceScaffold } from '../../../bin/plugin/scaffolds.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { say, writeScaffold } from './plugin-page.ts';

t.setTimeout(240_000);

long('the evidence plugin of `plugin new` passes its test', async (t) => {
  const sample = writeScaffold(t, 'house', 'evidence.js', evidenceScaffold('house'));
  t.match(await say(sample, 'plugin', 'test', 'house'), {
    code: 0,
    data: { parts: [{ kind: 'evidence', name: 'house', cases: 8, failures: [] }], needs: [] },
  });
});

long('an evidence policy fails its test if it contradicts its cases or the answer format', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'evidence', 'house');
  const place = join(sample.root, 'house/evidence.js');
  const text = readFileSync(place, 'utf8');
  for (const [from, to, found] of [
    ['undefined : { order: 1 }', "undefined : { trustTier: 'standards' }", /unknown field `trustTier`/],
    ["protocol !== 'https:'", "protocol === 'data:'", /a page without TLS is none/],
  ] as const) {
    t.ok(text.includes(from), from);
    writeFileSync(place, text.replace(from, to));
    const { code, error, data } = await say(sample, 'plugin', 'test', 'house');
    t.match({ code, error }, { code: 1, error: { code: 'PLUGIN_TEST_FAILED' } }, to);
    t.match(data.parts[0].failures.join('\n'), found, to);
  }
});

t.test('a manifest with an invalid evidence policy is refused with the wrong field', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'evidence', 'house');
  const place = join(sample.root, 'house/package.json');
  const manifest = JSON.parse(readFileSync(place, 'utf8'));
  for (const [change, found] of [
    [{ module: '/etc/passwd' }, /\/evidence\/0.*expected `module`/],
    [{ refusesRetrieval: 'yes' }, /\/evidence\/0.*expected `refusesRetrieval`/],
    [{ trustTiers: ['web'] }, /unknown field `trustTiers`/],
    [{ timeoutSeconds: 0 }, /`timeoutSeconds`/],
    [{ name: 'open-web' }, /has the name of a built-in one/],
  ] as const) {
    const [evidence] = manifest.writ.evidence;
    const writ = { ...manifest.writ, evidence: [{ ...evidence, ...change }] };
    writeFileSync(place, JSON.stringify({ ...manifest, writ }));
    const { error } = await say(sample, 'plugin', 'add', 'house');
    t.match(error, { code: 'PLUGIN_INVALID', message: found }, JSON.stringify(change));
  }
});
