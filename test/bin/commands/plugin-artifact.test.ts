import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { artifactScaffold } from '../../../bin/plugin/maker-scaffolds.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { say, writeScaffold } from './plugin-page.ts';

t.setTimeout(240_000);

t.test('the artifact plugin of `plugin new` passes its test', async (t) => {
  const sample = writeScaffold(t, 'owners', 'artifact.js', artifactScaffold('owners'));
  t.match(await say(sample, 'plugin', 'test', 'owners'), {
    code: 0,
    data: { parts: [{ kind: 'artifact', name: 'owners', cases: 3, failures: [] }], needs: [] },
  });
  t.match(await say(sample, 'plugin', 'add', 'owners'), {
    code: 0,
    data: { rules: [], parts: [{ kind: 'artifact', name: 'owners' }] },
  });
});

long('an artifact plugin fails its test if it is nondeterministic or contradicts its cases', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'artifact', 'owners');
  const place = join(sample.root, 'owners/artifact.js');
  const text = readFileSync(place, 'utf8');
  for (const [from, to, found] of [
    ['return { json: {', 'return { json: { at: Math.random(),', /the same bytes|deepEqual|strictly/],
    ['lines.findLast(', 'lines.find(', /the last line that matches/],
    ['return { json:', 'return { xml:', /expected an object with one of/],
    ['options.strict &&', 'options.lax &&', /are refused if the option says so/],
  ] as const) {
    t.ok(text.includes(from), from);
    writeFileSync(place, text.replace(from, to));
    const { code, error, data } = await say(sample, 'plugin', 'test', 'owners');
    t.match({ code, error }, { code: 1, error: { code: 'PLUGIN_TEST_FAILED' } }, to);
    t.match(data.parts[0].failures.join('\n'), found, to);
  }
});

t.test('a manifest with an invalid artifact is refused with the wrong field', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'artifact', 'owners');
  const place = join(sample.root, 'owners/package.json');
  const manifest = JSON.parse(readFileSync(place, 'utf8'));
  for (const [change, found] of [
    [{ contentType: 'json' }, /\/artifacts\/0.*expected `contentType`/],
    [{ extension: '../x' }, /\/artifacts\/0.*expected `extension`/],
    [{ module: '/etc/passwd' }, /\/artifacts\/0.*expected `module`/],
    [{ name: 'No Name' }, /expected the `name` of an artifact/],
    [{ timeoutSeconds: 601 }, /`timeoutSeconds`/],
    [{ stage: 'fast' }, /unknown field `stage`/],
    [{ name: 'sbom' }, /has the name of a built-in one/],
  ] as const) {
    const [artifact] = manifest.writ.artifacts;
    const writ = { ...manifest.writ, artifacts: [{ ...artifact, ...change }] };
    writeFileSync(place, JSON.stringify({ ...manifest, writ }));
    const { code, error } = await say(sample, 'plugin', 'add', 'owners');
    t.not(code, 0);
    t.match(error, { code: 'PLUGIN_INVALID', message: found }, JSON.stringify(change));
  }
});
