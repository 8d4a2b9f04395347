import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../../bin/command-table.ts';
import { evidenceScaffold } from '../../../../bin/plugin/scaffolds.ts';
import { createRecordedWorker } from '../../../../plugins/recorded-worker/plugin.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { runLine } from '../../../bin/host.ts';
import { fixtures, type Json, makeSample } from '../../../engine/sample.ts';
import { casesOf } from '../../../rooms/long.ts';

t.setTimeout(240_000);

const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');
const asked = '[evidence]\nplugins = ["house"]\n';
const hints: Json = { intent: { touchHints: { files: ['src/price.js', 'test/price.test.js', 'notes.md'] } } };

interface Scene {
  readonly edit?: (text: string) => string;
  readonly section?: string;
  readonly options?: string;
  readonly part?: Readonly<Record<string, unknown>>;
}

async function scene(
  t: Test,
  { edit = (text) => text, section = asked, options = '', part = {} }: Scene = {},
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  for (const [path, text] of evidenceScaffold('house')) {
    const place = join(sample.root, 'tools/house', path);
    mkdirSync(dirname(place), { recursive: true });
    if (path === 'evidence.js') writeFileSync(place, edit(text));
    else if (path === 'package.json') {
      const { writ, ...rest } = JSON.parse(text);
      const evidence = [{ ...writ.evidence[0], ...part }];
      writeFileSync(place, JSON.stringify({ ...rest, writ: { ...writ, evidence } }));
    } else writeFileSync(place, text);
  }
  const { digest } = await readDirectory(join(sample.root, 'tools/house'));
  mkdirSync(join(sample.root, '.writ'));
  const entry = `[[plugins]]\npath = "tools/house"\ndigest = "sha256:${digest}"\n${options}\n`;
  writeFileSync(join(sample.root, '.writ/config.toml'), `${entry}\n${section}`);
  writeFileSync(join(sample.root, 'notes.md'), '# Notes\n');
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'What counts as evidence');
  const pluginAccess = { trusts: async (one: string) => one === digest, find: async () => undefined };
  const run = () => {
    const worker = createRecordedWorker([{ task: 1, attempt: 1, patch }], async () => {});
    return sample.run({ worker, pluginAccess }, hints);
  };
  return { sample, digest, run };
}

t.test('an evidence plugin refuses and ranks sources, and the sealed run verifies', async (t) => {
  const { sample, digest, run } = await scene(t, { options: 'options = { made = "test/" }' });
  const view = await run();
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
  const stored = (path: string) => JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:${path}`));
  const snapshot = stored('task-1/revision-1/attempt-1/snapshot.json');
  const names: string[] = snapshot.items.map(({ name }: { name: string }) => name);
  t.equal(names[0], 'notes.md', 'what is written for readers comes first');
  t.ok(names.includes('src/price.js'));
  t.notOk(
    names.some((name) => name.startsWith('test/')),
    names.join(' '),
  );
  t.match(
    snapshot.rejected.find(({ name }: { name: string }) => name === 'test/price.test.js'),
    { reason: 'strategy', message: 'plugin `house`: what lies below test/ is made, not written' },
  );
  const { dsseEnvelope } = stored('provenance.sigstore.json');
  const { predicate } = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString('utf8'));
  t.match(
    predicate.buildDefinition.resolvedDependencies.find(
      ({ name }: { name: string }) => name === 'plugin/house',
    ),
    { digest: { sha256: digest } },
  );
  const { code, out } = await runLine(['--json', 'verify', 'HEAD'], commands, {
    cwd: sample.root,
    env: sample.env,
  });
  t.equal(code, 0, out);
});

const silences: Readonly<Record<string, readonly [body: string, reason: RegExp]>> = {
  throws: ["throw new Error('no');", /threw/],
  'raises a tier': ["return { trustTier: 'standards' };", /garbage/],
  'adds a source': ["return [{ name: 'other.js' }];", /garbage/],
  'goes away': ['process.exit(0);', /crashed/],
  hangs: ['for (;;);', /deadline/],
};

for (const [how, [body, reason]] of casesOf(silences, ['raises a tier', 'goes away']))
  t.test(`a run commits nothing if an evidence policy ${how}`, async (t) => {
    const { sample, run } = await scene(t, {
      edit: (text) => text.replace('  if (url !== undefined)', `  ${body}\n  if (url !== undefined)`),
      part: { timeoutSeconds: how === 'hangs' ? 1 : 60 },
    });
    const head = sample.git('rev-parse', 'HEAD');
    const fault = await run().catch((thrown: unknown) => thrown);
    t.match(fault, { code: 'PLUGIN_PROCESS_FAULT', detail: { plugin: 'house' } }, JSON.stringify(fault));
    t.match(String((fault as Error).message), reason);
    t.equal(sample.git('rev-parse', 'HEAD'), head, 'the branch is where it was');
  });

t.test(
  'refuses an `[evidence]` section with unknown plugins or fields, and reserved policy names',
  async (t) => {
    for (const section of [
      '[evidence]\nplugins = ["another"]\n',
      '[evidence]\nplugins = ["house", "house"]\n',
      '[evidence]\nplugins = "house"\n',
      '[evidence]\nstrategy = "open-web"\n',
    ]) {
      const { run } = await scene(t, { section });
      await t.rejects(run(), { code: 'CONFIG_INVALID' }, section);
    }
    const { run } = await scene(t, { part: { name: 'repo-first' } });
    await t.rejects(run(), { code: 'SLOT_DUPLICATE' });
  },
);
