import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { applyCarried } from '../../../engine/evaluate/carry-store.ts';
import { listRuns } from '../../../engine/record/list-runs.ts';
import { privateRootOf } from '../../../engine/record/started-run.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import type { Sample } from '../../engine/sample.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { byId, harmless, judge, type SceneChecks, sceneOf, specOf } from './scene.ts';

// Sandboxes on a busy machine.
t.setTimeout(300_000);

const carriesDist = { '.writ/config.toml': '[workspace]\ncarry = ["dist"]\n' };
const codesOf = (view: RunView, id: string): readonly unknown[] =>
  (byId(view)[id]?.findings ?? []).map(({ detail }) => detail?.code).filter((code) => code !== undefined);

long('only the paths in `carry` are passed to later checks, and the evidence records them', async (t) => {
  const sample = sceneOf(t, {
    ...carriesDist,
    'build.sh':
      'mkdir -p dist/deep other && echo built >dist/deep/app && ln -s deep/app dist/app && touch other/x && echo x >built\n',
    'use.sh': 'test "$(cat dist/app)" = built && test ! -e other && test ! -e built\n',
  });
  const view = await judge(sample, {
    fast: [
      { id: 'before', command: 'test ! -e dist' },
      { id: 'build', command: 'sh build.sh' },
      { id: 'beside', command: 'sh use.sh' },
    ],
    integration: [{ id: 'rules', command: 'no-direct-eval', kind: 'policy' }],
    release: [
      { id: 'use', command: 'sh use.sh' },
      { id: 'clean', command: 'rm -r dist' },
      { id: 'after', command: 'test ! -e dist' },
    ],
  });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const found = byId(view);
  const handed = found.build?.carried?.handedOn;
  t.match(handed, [{ path: 'dist', sha256: /^[0-9a-f]{64}$/, entries: 4, bytes: 6 }]);
  t.strictSame(found.before?.carried, { received: [], handedOn: [] });
  t.strictSame(found.build?.carried?.received, []);
  for (const id of ['beside', 'use', 'clean']) t.strictSame(found[id]?.carried?.received, handed, id);
  t.strictSame(found.use?.carried?.handedOn, handed);
  t.strictSame(found.clean?.carried?.handedOn, []);
  t.strictSame(found.after?.carried?.received, []);
  t.equal(found.rules?.carried, undefined, 'it runs no command');

  const ref = `refs/ai/runs/${view.runId}`;
  const paths = sample.git('ls-tree', '-r', '--name-only', ref).split('\n');
  const evidence = paths
    .filter((path) => path.startsWith('evidence/'))
    .map((path) => JSON.parse(sample.git('cat-file', 'blob', `${ref}:${path}`)));
  const evidenceOf = (id: string) => evidence.find(({ check_id }) => check_id === id);
  t.strictSame(evidenceOf('build').carried.handedOn, handed);
  t.strictSame(evidenceOf('use').carried.received, handed);
});

long('a carried path cannot replace files that the candidate tracks', async (t) => {
  const files = {
    'scripts/audit.js': 'process.exit(1)\n',
    'scripts/package.json': '{"type":"commonjs"}\n',
    'nice.sh': 'for d in scripts Scripts SCRIPTS; do mkdir -p $d; echo >$d/audit.js; done; true\n',
  };
  for (const carry of ['scripts', 'scripts/audit.js', 'Scripts', 'scripts/audit.js/x']) {
    const config = `[workspace]\ncarry = ["${carry}"]\nrewrites = ["scripts/**"]\n`;
    const sample = sceneOf(t, { ...files, '.writ/config.toml': config });
    const view = await judge(sample, {
      fast: [{ id: 'unit', command: 'sh nice.sh', required: false }],
      release: [{ id: 'audit', command: 'node scripts/audit.js' }],
    });
    t.not(view.decision?.type, 'commit', carry);
    t.strictSame(codesOf(view, 'unit'), ['CARRY_TRACKED'], carry);
    t.strictSame(byId(view).unit?.carried?.handedOn, [], carry);
    t.equal(byId(view).audit?.exitCode, 1, `${carry}: the committed file has judged`);
  }
});

long('links out of the workspace, special files and repositories are not carried', async (t) => {
  const hostile: Readonly<Record<string, string>> = {
    'an absolute link': 'mkdir dist && ln -s /etc/passwd dist/x',
    'a link that climbs out': 'mkdir dist && ln -s ../../x dist/x',
    'a link that climbs out behind another':
      'mkdir -p dist/a && ln -s .. dist/a/up && ln -s a/up/../../x dist/x',
    'a link in place of the directory': 'ln -s /tmp dist',
    'a link to what git keeps': 'mkdir dist && ln -s ../.git/config dist/x',
    'a repository': 'mkdir -p dist/.Git && echo "[core] fsmonitor = touch /tmp/x" >dist/.Git/config',
    'a pipe': "mkdir dist && node -e \"require('node:child_process').execFileSync('mkfifo',['dist/p'])\"",
    'a name that is no text':
      "mkdir dist && node -e \"require('node:fs').writeFileSync(Buffer.from('dist/\\xff','latin1'),'')\"",
    'a file without end':
      "mkdir dist && node -e \"require('node:fs').ftruncateSync(require('node:fs').openSync('dist/big','w'),5e9)\"",
  };
  const names = Object.keys(hostile);
  const sample = sceneOf(t, {
    ...carriesDist,
    ...Object.fromEntries(names.map((name, index) => [`h${index}.sh`, `${hostile[name]}\n`])),
  });
  const view = await judge(sample, {
    fast: names.map((_, index) => ({ id: `h${index}`, command: `sh h${index}.sh`, required: false })),
    release: [{ id: 'look', command: 'test ! -e dist && test ! -L dist' }],
  });
  for (const [index, name] of names.entries()) {
    t.equal(byId(view)[`h${index}`]?.exitCode, 0, name);
    t.strictSame(codesOf(view, `h${index}`), ['CARRY_REFUSED'], name);
    t.strictSame(byId(view)[`h${index}`]?.carried, { received: [], handedOn: [] }, name);
  }
  t.equal(byId(view).look?.status, 'passed');
});

t.test('carried files are limited in entries, bytes and path length', async (t) => {
  const workspace = t.testdir({ dist: { a: 'xx', b: { c: 'xx', [`${'n'.repeat(80)}`]: '' } } });
  const limits = { entries: 5, bytes: 4, pathCharacters: 87 };
  const take = (more: Partial<typeof limits>) =>
    applyCarried(workspace, 'dist', mkdtempSync(join(workspace, 'into-')), { ...limits, ...more });
  t.equal(await take({}), 'copied', 'what is just within them');
  t.match(await take({ entries: 4 }), { fault: /more than 4 entries/ });
  t.match(await take({ bytes: 3 }), { fault: /larger than 3 bytes/ });
  t.match(await take({ pathCharacters: 86 }), { fault: /longer than 86/ });
});

long('the baseline is measured with files carried from its own checks', async (t) => {
  const sample = sceneOf(t, {
    ...carriesDist,
    'build.sh': 'mkdir -p dist && ls src | wc -l >dist/count\n',
    'speed.sh': 'echo "{\\"count\\":$(cat dist/count)}" >"$REPORTS_DIR/metrics.json"; echo 99 >dist/count\n',
  });
  const view = await judge(sample, {
    fast: [{ id: 'build', command: 'sh build.sh' }],
    integration: [{ id: 'speed', command: 'sh speed.sh' }],
  });
  const [metric] = byId(view).speed?.baseline?.speed?.measured ?? [];
  t.ok(metric && metric.base.length >= 3);
  t.strictSame([new Set(metric?.base), new Set(metric?.candidate)], [new Set([1]), new Set([2])]);
});

const resumed: SceneChecks = {
  fast: [{ id: 'build', command: 'sh build.sh' }],
  release: [{ id: 'use', command: 'test -e dist/app' }],
};

const keptStores: Readonly<Record<string, readonly [spoil: (store: string) => void, reran: string[]]>> = {
  'is there': [() => undefined, ['use']],
  'is gone': [(store) => rmSync(store, { recursive: true }), ['build', 'use']],
  'is not what it was': [
    (store) => {
      for (const name of readdirSync(store)) appendFileSync(join(store, name, 'dist/app'), 'worse');
    },
    ['build', 'use'],
  ],
};

for (const [what, [spoil, reran]] of casesOf(keptStores, ['is not what it was'])) {
  long(`a stopped run resumes when the store of carried files ${what}`, async (t) => {
    const sample = sceneOf(t, { ...carriesDist, 'build.sh': 'mkdir -p dist && echo built >dist/app\n' });
    const counted: string[] = [];
    const runId = await interrupted(t, sample);
    const store = join(privateRootOf(runId), 'candidate-1-1', 'carried');
    t.ok(existsSync(store), 'it outlives the process');
    spoil(store);
    const view = await sample.resume(runId, {}, [counting(counted)]);
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.strictSame(counted, reran, 'which checks the resumed run repeats');
    t.notOk(existsSync(privateRootOf(runId)), 'nothing lies about');
  });
}

long('a resumed run without carried files does not repeat checks that ended', async (t) => {
  const sample = sceneOf(t, { 'build.sh': 'true\n' });
  const counted: string[] = [];
  const checks: SceneChecks = { ...resumed, release: [{ id: 'use', command: 'true' }] };
  const runId = await interrupted(t, sample, checks);
  rmSync(privateRootOf(runId), { recursive: true });
  mkdirSync(privateRootOf(runId), { mode: 0o700 });
  const view = await sample.resume(runId, {}, [counting(counted)]);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.strictSame(counted, ['use']);
});

function counting(counted: string[]) {
  return definePlugin({
    name: 'counting',
    api: 1,
    setup({ hooks }) {
      hooks.tool.settled.tap(({ request }) => void counted.push(request.checkId ?? ''));
      return undefined;
    },
  });
}

/** The id of a run that was stopped when its fast stage had settled. */
async function interrupted(t: Test, sample: Sample, checks: SceneChecks = resumed): Promise<string> {
  const controller = new AbortController();
  const stop = definePlugin({
    name: 'stop',
    api: 1,
    setup({ hooks }) {
      hooks.stage.settled.tap(() => controller.abort(new WritError('RUN_INTERRUPTED')));
      return undefined;
    },
  });
  await t.rejects(sample.run({ source: harmless, signal: controller.signal }, specOf(checks), [stop]), {
    code: 'RUN_INTERRUPTED',
  });
  const repository = await openRepository(sample.root);
  const [run] = await listRuns(builtInStores, repository, systemClock);
  return (await findRun(builtInStores, repository, systemClock, run?.runId ?? '')).runId;
}
