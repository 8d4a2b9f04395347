import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { Issue } from '../../../core/interfaces/finding.ts';
import { readContract } from '../../../engine/intent/admit-contract.ts';
import { contractIssues, type OpeningCheck, type OpeningRequest } from '../../../engine/open/opening.ts';
import { previewContract } from '../../../engine/open/repository-checks.ts';
import { startRun } from '../../../engine/open/start-run.ts';
import { planRun } from '../../../engine/plan-run.ts';
import type { ChangeSource, RunRequest } from '../../../engine/state/run-request.ts';
import { planWork, reviewPlan } from '../../../engine/work/plan-work.ts';
import { builtInsFor } from '../../../plugins/preset/preview-plugins.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';
import { keepObjectReaders } from '../../../workspace/git/object-reader.ts';
import { runLine } from '../../bin/host.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { isLong, long } from '../../rooms/long.ts';
import { fixtures, makeSample, sampleSpec } from '../sample.ts';
import { mutatedContracts } from './mutated-contracts.ts';

const contracts = isLong ? 120 : 60;

type Sees = OpeningCheck['sees'];

/** Contracts of which it is known what refuses them: chance may draw none like them. */
const refusedAnyway = {
  contract: [{ lifecycle: { status: 'closed' } }],
  repository: [
    { metadata: { id: 'closed-intent-0001' } },
    { metadata: { target: { baseRef: 'nowhere' } } },
    { metadata: { target: { baseRef: 'broken-config' } } },
  ],
};
const refusedContracts = [...refusedAnyway.contract, ...refusedAnyway.repository].map((more) =>
  JSON.parse(String(sampleSpec(more))),
);

/** What `run` says before any work: a code, or nothing. */
async function askRun(engine: WritEngine, request: RunRequest): Promise<string | undefined> {
  try {
    await using readers = keepObjectReaders();
    await using held = await startRun(engine, request, readers);
    // What comes next asks nothing that was there to see before, either.
    await reviewPlan(held.run);
    await planWork(held.run);
    await held.finish();
    return undefined;
  } catch (fault) {
    if (isWritError(fault)) return fault.code;
    throw fault;
  }
}

/** Everything that `plan` says: codes, the first of them the exit. */
async function askPlan(
  engine: WritEngine,
  request: RunRequest,
): Promise<readonly { readonly code: string; readonly sees: Sees }[]> {
  try {
    const who = request.source.kind === 'worker' ? 'worker' : 'patch';
    const { refusals } = await planRun(engine, { ...request, who });
    return refusals.map(({ check: { sees }, fault: { code } }) => ({ sees, code }));
  } catch (fault) {
    if (isWritError(fault)) return [{ code: fault.code, sees: 'change' }];
    throw fault;
  }
}

/** What `spec validate` says, in the repository and by the contract alone; `undefined` where it refuses. */
async function askValidate(
  engine: WritEngine,
  request: OpeningRequest,
): Promise<{ readonly here: readonly Issue[]; readonly alone: readonly Issue[] } | undefined> {
  const read = await readContract(engine, request.specBytes).catch(() => undefined);
  if (!read) return undefined;
  return { here: await previewContract(builtInsFor, request, read), alone: await contractIssues(read) };
}

long('`run` and `plan` refuse a spec before any work with the same error code', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { git, root, env } = sample;
  const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  writeFileSync(join(sample.home, 'fix.diff'), fix);
  const branch = (name: string, path: string, text: string | undefined): void => {
    git('checkout', '--quiet', '-b', name, 'main');
    mkdirSync(join(root, '.writ'), { recursive: true });
    if (text === undefined) git('apply', '--index', join(sample.home, 'fix.diff'));
    else writeFileSync(join(root, path), text);
    git('add', '--all');
    git('commit', '--quiet', '-m', name);
    git('checkout', '--quiet', 'main');
  };
  const config = '.writ/config.toml';
  const always = '{ id = "always", stage = "fast", command = "true" }';
  branch('misspelt-rule', config, '[rules.scoop]\nx = 1\n');
  branch('same-id', config, `[checks]\nalways = [${always}]\n[factors.audit]\nchecks = [${always}]\n`);
  branch('broken-config', config, 'colour = "red"\n');
  branch('untrusted-plugin', config, `[[plugins]]\npath = "nothing"\ndigest = "sha256:${'0'.repeat(64)}"\n`);
  branch('feature', '', undefined);
  // Two intents that the repository knows: one that ended, one that was made with other metadata.
  for (const id of ['closed-intent-0001', 'known-intent-0001']) {
    const stdin = sampleSpec({ metadata: { id }, lifecycle: { status: 'draft' } });
    const activated = await runLine(['spec', 'activate', '-'], commands, { stdin, cwd: root, env });
    t.equal(activated.code, 0, activated.err);
  }
  await runLine(['spec', 'close', 'closed-intent-0001'], commands, { cwd: root, env });
  // A change of the person's own, which a patch to the same file would run over.
  writeFileSync(join(root, 'docs/notes.md'), 'mine\n');

  const text = (words: string) => Buffer.from(words);
  const notes = '--- a/docs/notes.md\n+++ b/docs/notes.md\n@@ -0,0 +1 @@\n+x\n';
  const governs = '--- /dev/null\n+++ b/.writ/config.toml\n@@ -0,0 +1 @@\n+x = 1\n';
  const recording = (answers: unknown, more: object = {}) =>
    text(JSON.stringify({ format: 'urn:writ:recording:v1', answers, ...more }));
  const patch = (bytes: Uint8Array): ChangeSource => ({ kind: 'patch', bytes });
  const recorded = (from: Uint8Array): ChangeSource => ({ kind: 'worker', worker: 'recorded', from });
  const good = [patch(fix), recorded(recording([{ task: 1, attempt: 1, patch: String(fix) }]))];
  const sources: readonly ChangeSource[] = [
    ...good,
    ...good,
    ...good,
    patch(text('no patch at all\n')),
    patch(text('')),
    patch(text(notes)),
    patch(text(governs)),
    patch(text('--- a/src/price.js\n+++ b/src/price.js\n@@ -90 +90 @@\n-nothing like it\n+x\n')),
    recorded(text('{}')),
    recorded(recording([{ task: 0, attempt: 1 }])),
    recorded(recording([{ task: 1, attempt: 1, colour: 'red' }])),
    { kind: 'range', range: 'main..feature' },
    { kind: 'range', range: 'main..nowhere' },
    { kind: 'range', range: 'feature' },
  ];
  const wishes: readonly Partial<RunRequest>[] = [
    {},
    {},
    {},
    {},
    { onto: 'release' },
    { onto: 'a b' },
    { onto: 'feature' },
    { policy: 'feature' },
    { policy: 'nowhere' },
    { author: 'nobody' },
    { author: 'Ana <ana@sample.example>' },
    { sandbox: 'none' },
    { sandbox: 'steel' },
    { onto: 'feature', noMerge: true },
  ];
  const random = seededRandom(toldSeed(t));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  await using engine = await sample.engine();
  const told = new Map<string, number>();
  /** Refusals that `spec validate` had to see, by what shows them. */
  const held = { contract: 0, repository: 0, machine: 0, change: 0 };
  const asked = [
    ...refusedContracts.map((contract) => ({ contract, source: patch(fix), wish: {} })),
    ...mutatedContracts(contracts, random).map((contract) => {
      const [source, wish] = [pick(sources), pick(wishes)];
      return { contract, source, wish };
    }),
  ];
  for (const { contract, source, wish } of asked) {
    const plain = {
      repositoryPath: root,
      specBytes: Buffer.from(JSON.stringify(contract)),
      sandbox: 'auto',
      clock: systemClock,
    };
    const settings = { schedulerVersion: '0.0.0-test', signal: new AbortController().signal };
    const request: RunRequest = { ...plain, ...settings, source, ...wish };
    const [run, plan] = [await askRun(engine, request), await askPlan(engine, request)];
    const about = JSON.stringify({ run, plan, source: source.kind, wish, contract });
    if (plan[0]?.code !== run) t.same(plan[0]?.code, run, about);
    told.set(run ?? 'none', (told.get(run ?? 'none') ?? 0) + 1);
    const validated = await askValidate(engine, plain);
    // What is wished besides, and where a range begins, no contract says.
    if (!validated || Object.keys(wish).length > 0 || source.kind === 'range') continue;
    for (const { code, sees } of plan) {
      held[sees] += 1;
      const seen = {
        contract: [validated.here, validated.alone],
        repository: [validated.here],
        machine: [],
        change: [],
      }[sees];
      for (const issues of seen)
        if (!issues.some((issue) => issue.code === code)) t.fail(`validate does not see ${code}: ${about}`);
    }
  }
  t.comment(JSON.stringify(Object.fromEntries(told)));
  for (const sees of ['contract', 'repository'] as const)
    t.ok(held[sees] >= refusedAnyway[sees].length, JSON.stringify(held));
  t.ok(told.size >= contracts / 8, `${told.size} kinds of outcome`);
  t.ok((told.get('none') ?? 0) >= contracts / 24, 'some begin');
  t.notOk(git('for-each-ref', 'refs/ai/runs'), 'nothing of them is left');
});
