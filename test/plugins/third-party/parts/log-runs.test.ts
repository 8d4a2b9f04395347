import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { userCheckpointMemory } from '../../../../attest/log/checkpoint-memory.ts';
import { formatNote, parseVkey } from '../../../../attest/log/note.ts';
import { commands } from '../../../../bin/command-table.ts';
import { logScaffold } from '../../../../bin/plugin/maker-scaffolds.ts';
import { leadTo } from '../../../../bin/plugin/suites.ts';
import { serveLog } from '../../../../plugins/testers/log-tester.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { runLine } from '../../../bin/host.ts';
import { fixtures, type Json, makeSample } from '../../../engine/sample.ts';
import { casesOf, long } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(240_000);

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const asked = { provenance: { transparencyLog: { mode: 'public-log' } } };
const wire = {
  append: {
    path: '/add',
    json: { index: '$index', size: '$size', root: '$root', path: '$path', checkpoint: '$checkpoint' },
  },
  size: { path: '/size', json: { size: '$size' } },
  consistency: { path: '/consistency?from=$from&to=$to', json: { path: '$path' } },
};

async function scene(t: Test, edit: (text: string) => string, section: (vkey: string) => string) {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-log-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const served = await serveLog(root, wire);
  t.teardown(() => served[Symbol.asyncDispose]());
  const sample = makeSample();
  t.teardown(() => sample.remove());
  for (const [path, text] of logScaffold('notary')) {
    const place = join(sample.root, 'tools/notary', path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, path === 'log.js' ? edit(text) : text);
  }
  const { digest } = await readDirectory(join(sample.root, 'tools/notary'));
  mkdirSync(join(sample.root, '.writ'));
  const options = 'options = { url = "http://log.notary.example" }';
  const entry = `[[plugins]]\npath = "tools/notary"\ndigest = "sha256:${digest}"\n${options}\n`;
  writeFileSync(join(sample.root, '.writ/config.toml'), `${entry}\n[log]\n${section(served.vkey)}`);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A log');
  const pluginAccess = {
    trusts: async (one: string) => one === digest,
    find: async () => undefined,
    secret: handing({ NOTARY_TOKEN: 'tok-canary-01234' }),
  };
  const run = (spec: Record<string, Json> = {}) =>
    sample.run(
      {
        source: { kind: 'patch', bytes: fix },
        pluginAccess,
        outside: leadTo(() => served.port),
      },
      { ...asked, ...spec },
    );
  return { sample, served, digest, run };
}

const pinned = (vkey: string): string => `plugin = "notary"\nvkey = "${vkey}"\n`;

long('a sealed run is in the plugin log and verifies with the pinned key', async (t) => {
  const { sample, served, digest, run } = await scene(t, (text) => text, pinned);
  const view = await run();
  t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
  const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
  const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
  t.match(
    statement.predicate.buildDefinition.resolvedDependencies.find(
      ({ name }: { name: string }) => name === 'plugin/notary',
    ),
    { digest: { sha256: digest } },
  );
  const verify = async (vkey: string) => {
    const argv = ['--json', 'verify', 'HEAD', '--ledger-key', vkey, '--require', 'log'];
    const { code, out } = await runLine(argv, commands, { cwd: sample.root, env: sample.env });
    return { code, ...JSON.parse(out) };
  };
  const verified = await verify(served.vkey);
  t.match(verified, { code: 0, data: { verified: true } }, JSON.stringify(verified.data?.checks));
});

long('a waiting run can be cancelled without trusting the plugin of its log', async (t) => {
  const { sample, served, run } = await scene(t, (text) => text, pinned);
  const { runId, state } = await run({ risk: { humanInLoop: { required: true, minApprovers: 1 } } });
  t.equal(state, 'waiting');
  await served[Symbol.asyncDispose]();
  const line = ['--json', 'cancel', runId, '--reason', 'not wanted'];
  const { code, out } = await runLine(line, commands, { cwd: sample.root, env: sample.env });
  t.match({ code, ...JSON.parse(out) }, { code: 0, data: { decision: { type: 'abandon' } } }, out);
});

type Lie = readonly [edit: (text: string) => string, found: RegExp];
const lies: Readonly<Record<string, Lie>> = {
  'that it was handed the entry': [
    (text) => text.replace("ask('/add', context, entry)", "ask('/add', context, '{}')"),
    /does not lead from the entry to the root/,
  ],
  'about its size': [
    (text) => text.replace('treeSize: size', 'treeSize: size + 1'),
    /another size or root than its proof/,
  ],
  'by its name': [
    (text) =>
      text.replace(' checkpoint };', " checkpoint: checkpoint.replace(/^[^\\n]*/, 'another.example/log') };"),
    /signature of the checkpoint is wrong|no trusted key/,
  ],
  'by a prototype': [
    (text) =>
      text.replace('return { logIndex', 'return JSON.parse(\'{"__proto__":{"logIndex":0}}\') ?? { logIndex'),
    /no key `__proto__`/,
  ],
  'with fields of its own': [
    (text) => text.replace('return { logIndex', 'return { verified: true, logIndex'),
    /unknown field `verified`/,
  ],
  'by going away': [
    (text) => text.replace('return { logIndex', 'process.exit(0); return { logIndex'),
    /gave no answer \(crashed\)/,
  ],
};

for (const [how, [edit, found]] of casesOf(lies, ['that it was handed the entry']))
  t.test(`a run rolls back if the log lies ${how}`, async (t) => {
    const { sample, run } = await scene(
      t,
      (text) => {
        const changed = edit(text);
        t.not(changed, text, how);
        return changed;
      },
      pinned,
    );
    const head = sample.git('rev-parse', 'HEAD');
    const { decision } = await run();
    t.equal(decision?.type, 'rollback');
    t.match(decision?.rationale, /the log `notary` of a plugin/);
    t.match(decision?.rationale, found);
    t.notMatch(decision?.rationale, /canary/);
    t.equal(sample.git('rev-parse', 'HEAD'), head, 'the branch is where it was');
  });

/** This user remembers the log with that many other entries. */
async function seen({ env }: { readonly env: Readonly<Record<string, string>> }, size: number, vkey: string) {
  const { name: origin, keyId } = parseVkey(vkey);
  const root = Buffer.alloc(32, 7);
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`;
  const signature = { name: origin, keyHint: keyId.subarray(0, 4), signature: Buffer.alloc(64) };
  const source = formatNote(text, [signature]);
  await userCheckpointMemory(env).remember({ origin, keyId, size, root, source });
}

long('a run rolls back if the log starts over after it was seen', async (t) => {
  const { sample, served, run } = await scene(t, (text) => text, pinned);
  await seen(sample, 5, served.vkey);
  const head = sample.git('rev-parse', 'HEAD');
  const { decision } = await run();
  t.match(decision, { type: 'rollback', rationale: /it had 5 entries, and now has 0/ });
  t.equal(sample.git('rev-parse', 'HEAD'), head, 'the branch is where it was');
});

long('a run rolls back if the log shows another tree for a known size', async (t) => {
  const lie = (text: string) => text.replace("return (await ask('/size', context)).size;", 'return 1;');
  const { sample, served, run } = await scene(t, lie, pinned);
  await seen(sample, 1, served.vkey);
  const head = sample.git('rev-parse', 'HEAD');
  const { decision } = await run();
  t.match(decision, { type: 'rollback', rationale: /showed 1 entries that are not those/ });
  t.equal(sample.git('rev-parse', 'HEAD'), head, 'the branch is where it was');
});

long('a run rolls back if the log is signed with another key', async (t) => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-log-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  await using other = await serveLog(root, wire);
  const { run } = await scene(
    t,
    (text) => text,
    () => pinned(other.vkey),
  );
  const { decision } = await run();
  t.equal(decision?.type, 'rollback');
  t.match(decision?.rationale, /no trusted key signed the checkpoint/);
});

t.test('refuses an incomplete or contradictory plugin log configuration', async (t) => {
  for (const section of [
    () => 'plugin = "notary"\n',
    (vkey: string) => `vkey = "${vkey}"\n`,
    () => pinned('notary+1+x'),
    (vkey: string) => `plugin = "another"\nvkey = "${vkey}"\n`,
    (vkey: string) => `${pinned(vkey)}url = "https://log.example"\napi = "v2"\n`,
  ]) {
    const { run } = await scene(t, (text) => text, section);
    await t.rejects(run(), { code: 'CONFIG_INVALID' }, section('KEY'));
  }
});
