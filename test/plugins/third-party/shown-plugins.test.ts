import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { stageCheckScaffold } from '../../../bin/plugin/scaffolds.ts';
import { sealedPlugins } from '../../../engine/record/read-run.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(240_000);

const spec = {
  acceptance: {
    verificationPlan: {
      fastChecks: [
        { id: 'quick', kind: 'command', command: 'true', required: true, artifactsProduced: ['test-log'] },
      ],
    },
  },
};

/** A repository in which a change was sealed that two plugins of others judged. */
async function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const write = async (...argv: string[]) =>
    runLine(argv, commands, {
      cwd: sample.root,
      env: { ...sample.env, CALM_TOKEN: 'calm-token-of-the-test' },
    });
  const say = async (...argv: string[]) => {
    const { code, out } = await write('--json', ...argv);
    const answer = JSON.parse(out);
    if (answer.data !== undefined) t.strictSame(faultsOf(answer.command, answer.data), [], argv.join(' '));
    return { code, ...answer };
  };
  cpSync(join(fixtures, '../plugins/test-names'), join(sample.root, 'tools/test-names'), { recursive: true });
  await say('plugin', 'new', 'stage-check', 'calm', '--dir', 'tools/calm');
  const check = stageCheckScaffold('calm').get('check.js') ?? '';
  writeFileSync(
    join(sample.root, 'tools/calm/check.js'),
    check.replace('export async function judge', 'export const judge = () => [];\nasync function asked'),
  );
  for (const name of ['test-names', 'calm']) {
    await say('plugin', 'add', `tools/${name}`);
    t.equal((await say('plugin', 'trust', `tools/${name}`, '--yes')).code, 0);
  }
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'Judges');
  writeFileSync(join(sample.root, '../spec.json'), sampleSpec(spec));
  const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff');
  const ran = await say('run', '../spec.json', '--patch', fix);
  t.equal(ran.code, 0, JSON.stringify(ran.error));
  return { sample, say, write, runId: ran.data.run_id as string };
}

/** Puts a file into the record of a run, as whoever may write the ref can. */
function putFile({ root, home, env }: Sample, ref: string, path: string, text: string): void {
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', args, {
      cwd: root,
      env: { ...env, GIT_INDEX_FILE: join(home, 'index') },
      input,
      encoding: 'utf8',
    }).trim();
  git(['read-tree', ref]);
  const blob = git(['hash-object', '-w', '--stdin'], text);
  git(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`]);
  git(['update-ref', ref, git(['commit-tree', git(['write-tree']), '-p', ref, '-m', 'altered'])]);
}

long('`verify`, `show` and `report` list the plugins of a run and what they received', async (t) => {
  const { sample, say, write, runId } = await scene(t);
  const listed = (await say('plugin', 'list')).data.plugins.filter(
    ({ source }: { source: string }) => source === 'path',
  );
  const expected = [
    {
      name: 'test-names',
      uri: 'urn:writ:plugin:path:tools/test-names@1.0.0',
      sha256: listed[0].digest.slice('sha256:'.length),
      brings: ['rule test-names'],
      given: [],
    },
    {
      name: 'calm',
      uri: 'urn:writ:plugin:path:tools/calm@0.1.0',
      sha256: listed[1].digest.slice('sha256:'.length),
      brings: ['stage-check calm'],
      given: ['connects to calm.example', 'is handed the secret CALM_TOKEN'],
    },
  ];
  const verified = await say('verify', 'HEAD');
  t.equal(verified.code, 0, JSON.stringify(verified.data.checks));
  t.strictSame(verified.data.targets[0].plugins, expected);
  t.strictSame((await say('show', runId)).data.provenance.plugins, expected);
  const line = new RegExp(
    `plugin +calm  sha256:${expected[1]?.sha256}  stage-check calm; connects to calm.example`,
  );
  t.match((await write('verify', 'HEAD')).out, line);
  t.match((await write('show', runId)).out, line);
  const page = join(sample.home, 'run.html');
  t.equal((await say('report', runId, '--html', page)).code, 0);
  t.match(readFileSync(page, 'utf8'), /Plugin calm<\/dt>.*stage-check calm; connects to calm\.example/);

  const ref = `refs/ai/runs/${runId}`;
  const bundle = JSON.parse(sample.git('show', `${ref}:provenance.sigstore.json`));
  const file = join(sample.home, 'bundle.json');
  writeFileSync(file, JSON.stringify(bundle));
  t.strictSame((await say('verify', file)).data.targets[0].plugins, expected, 'a bundle by itself');
  for (const [from, to] of [
    ['connects to calm.example', 'connects to good.example'],
    ['stage-check calm', 'stage-check cold'],
    ['plugin/test-names', 'plugin/best-names'],
    [expected[1]?.sha256 ?? '', '0'.repeat(64)],
  ] as const) {
    const said = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8');
    t.ok(said.includes(from), from);
    const payload = Buffer.from(said.replace(from, to)).toString('base64');
    const altered = JSON.stringify({ ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, payload } });
    writeFileSync(file, altered);
    putFile(sample, ref, 'provenance.sigstore.json', altered);
    for (const target of [file, 'HEAD']) {
      const refuted = await say('verify', target);
      t.equal(refuted.code, 1, `${target} ${from}`);
      t.match(
        refuted.data.checks.find(({ id }: { id: string }) => id === 'signature'),
        { status: 'failed' },
        from,
      );
      t.notOk('plugins' in refuted.data.targets[0], 'what nobody signed is not listed');
    }
  }
});

t.test('an unreadable bundle lists no plugins', async (t) => {
  const statement = (dependencies: unknown) =>
    Buffer.from(
      JSON.stringify({
        dsseEnvelope: {
          payload: Buffer.from(
            JSON.stringify({ predicate: { buildDefinition: { resolvedDependencies: dependencies } } }),
          ).toString('base64'),
        },
      }),
    );
  const sound = { name: 'plugin/a', uri: 'urn:writ:plugin:path:a@1', digest: { sha256: 'aa' } };
  t.match(sealedPlugins(statement([sound])), [{ name: 'a', sha256: 'aa', brings: [], given: [] }]);
  for (const bytes of [
    undefined,
    Buffer.from('{'),
    Buffer.from('null'),
    Buffer.from('{"dsseEnvelope":{"payload":"e30="}}'),
    statement({}),
    statement([
      null,
      1,
      {},
      { ...sound, digest: null },
      { ...sound, uri: 'file:a' },
      { ...sound, name: 'a' },
    ]),
  ])
    t.strictSame(sealedPlugins(bytes), []);
});
