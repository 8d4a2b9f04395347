/*
 * Runs of everything together under faults: each round lands one change, or some changes by the merge queue, while
 * parts are killed, cut off or lie. After the round nothing that was acknowledged is lost, nothing is counted twice,
 * and the verdict is that of a round without faults.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { removeStaleRunFiles } from '../../../engine/record/stale-run-files.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { traces } from '../facts.ts';
import { type FaultPlace, faults } from './faults.ts';
import { changeOf, type Engine, openParts, type Parts } from './scene.ts';

type FaultName = keyof typeof faults;

export interface PartsReport {
  readonly rounds: number;
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often a process of the engine ended so, and the round went on. */
  readonly ends: Readonly<Record<string, number>>;
  /** Where checks ran. */
  readonly checks: Readonly<Record<string, number>>;
  readonly complaints: readonly string[];
}

interface Options {
  readonly seed: number;
  readonly rounds: number;
  /** The number of the first round: a round that failed is repeated by its seed and number. */
  readonly from?: number;
  readonly report?: (line: string) => void;
}

/** Rounds in one repository. */
const perPlace = 40;
/** Engines of one round: the last ones without faults. */
const mostEngines = 12;

/** What a round does; the same seed and number make the same choices. */
interface Choice {
  readonly changes: readonly { readonly name: string; readonly isBad: boolean }[];
  readonly byQueue: boolean;
  readonly fallback: 'local' | 'fail';
  readonly hits: readonly Hit[];
}

interface Hit {
  readonly fault: FaultName;
  /** After so many milliseconds, or after so many records of journals and then some. */
  readonly when: { readonly ms: number } | { readonly records: number; readonly thenMs: number };
}

const names = Object.keys(faults) as FaultName[];
/** What rounds without faults take: instants are spread over it. */
const wholeMs = { run: 2600, queue: 5200 };
const wholeRecords = { run: 60, queue: 120 };

function choose(seed: number, round: number): Choice & { readonly random: () => number } {
  const random = seededRandom(seed * 100_003 + round);
  const byQueue = random() < 0.3;
  const kind = byQueue ? 'queue' : 'run';
  const changes = Array.from({ length: byQueue ? 2 : 1 }, (_, at) => ({
    name: `part-${round}-${at}`,
    isBad: random() < 0.25,
  }));
  const fallback = round % perPlace < perPlace / 2 ? 'local' : 'fail';
  const share = random();
  const hits = Array.from({ length: share < 0.6 ? 1 : share < 0.9 ? 2 : 3 }, (_, at): Hit => {
    // Every fault comes first in turn.
    const fault = names[at === 0 ? round % names.length : Math.floor(random() * names.length)] as FaultName;
    const when =
      random() < 0.5
        ? { ms: Math.round(wholeMs[kind] * (0.1 + 0.9 * random()) * (at + 1)) }
        : {
            records: 1 + Math.floor(random() * wholeRecords[kind]),
            thenMs: Math.floor(random() * random() * 60),
          };
    return { fault, when };
  });
  return { changes, byQueue, fallback, hits, random };
}

export async function killParts({
  seed,
  rounds,
  from = 0,
  report = () => {},
}: Options): Promise<PartsReport> {
  const tally = { faults: {}, ends: {}, checks: {} } as Record<'faults' | 'ends' | 'checks', Tally>;
  const complaints: string[] = [];
  let round = from;
  while (round < from + rounds) {
    const root = mkdtempSync(join(tmpdir(), 'writ-parts-'));
    const before = complaints.length;
    const parts = await openParts(root);
    try {
      const place = await openPlace(parts);
      const end = Math.min(from + rounds, (Math.floor(round / perPlace) + 1) * perPlace);
      for (; round < end; round += 1) {
        const choice = choose(seed, round);
        const found = await oneRound(place, choice, tally).catch((fault: unknown) => [
          fault instanceof Error ? (fault.stack ?? fault.message) : String(fault),
        ]);
        const { random: _, ...shown } = choice;
        report(
          `${found.length === 0 ? 'ok' : 'NOT OK'} seed ${seed} round ${round} ${JSON.stringify(shown)}`,
        );
        for (const line of found) report(`  ${line}`);
        complaints.push(...found.map((line) => `seed ${seed} round ${round}, kept in ${root}: ${line}`));
      }
      const found = await lookAtAll(place);
      for (const line of found) report(`NOT OK at the end: ${line}`);
      complaints.push(
        ...found.map((line) => `seed ${seed}, before round ${round}, kept in ${root}: ${line}`),
      );
    } finally {
      await parts.close();
      if (complaints.length === before) rmSync(root, { recursive: true, force: true });
    }
  }
  return { rounds, ...tally, complaints };
}

type Tally = Record<string, number>;
const countIn = (tally: Tally, key: string): void => {
  tally[key] = (tally[key] ?? 0) + 1;
};

/** What a round leaves to the next ones. */
interface Place {
  readonly parts: Parts;
  /** Facts of runs without faults, of good and of bad changes. */
  readonly expected: Readonly<Record<'good' | 'bad', string>>;
  /** Runs that were looked at. */
  readonly runs: Set<string>;
  /** Commits that were sealed. */
  readonly sealed: string[];
  /** Entries of runs that were rolled back. */
  unsealed: number;
  /** Entries of the ledger after the last round. */
  entries: readonly string[];
}

async function openPlace(parts: Parts): Promise<Place> {
  const expected: Record<string, string> = {};
  const place = {
    parts,
    expected,
    runs: new Set<string>(),
    sealed: [],
    unsealed: 0,
    entries: [],
  } as unknown as Place;
  for (const kind of ['good', 'bad'] as const) {
    const change = { name: `first-${kind}`, isBad: kind === 'bad' };
    const engine = parts.start(['run', ...writeChange(parts, change)]);
    const { code, out, err } = await engine.ended;
    const [run] = newRuns(place);
    if (code !== (change.isBad ? 1 : 0) || run === undefined)
      throw new Error(`a run without faults ended with ${code}: ${out}${err}`);
    expected[kind] = factsOf(await show(parts, run.id), change.name);
    place.runs.add(run.id);
    if (!change.isBad) place.sealed.push(parts.git('rev-parse', 'main'));
  }
  place.entries = await parts.ledger.entries();
  return place;
}

function writeChange(parts: Parts, { name, isBad }: Choice['changes'][number]): readonly string[] {
  const { spec, patch } = changeOf(name, isBad);
  const [specPath, patchPath] = [join(parts.root, `${name}.json`), join(parts.root, `${name}.diff`)];
  writeFileSync(specPath, spec);
  writeFileSync(patchPath, patch);
  return [specPath, '--patch', patchPath];
}

async function oneRound(
  place: Place,
  { changes, byQueue, fallback, hits, random }: ReturnType<typeof choose>,
  tally: Record<'faults' | 'ends' | 'checks', Tally>,
): Promise<readonly string[]> {
  const { parts } = place;
  parts.setFallback(fallback);
  const base = parts.git('rev-parse', 'main');
  const begin = changes.flatMap((change) => writeChange(parts, change));
  if (byQueue) {
    const { code, out } = await parts.read(['queue', 'add', ...begin, '--onto', 'main']);
    if (code !== 0) return [`the queue did not accept the changes: ${out}`];
  }
  const records = (): number => newRuns(place).reduce((sum, run) => sum + run.records, 0);
  /** Runs of this round that took their seal back, e.g. because the log was away: the change gets another run. */
  const rolledBack = new Set<string>();
  const current = (): FoundRun | undefined =>
    newRuns(place).find(({ id, records: count }) => count > 0 && !rolledBack.has(id));
  let engine: Engine | undefined;
  let isDone = false;
  const at: FaultPlace = {
    ...{ parts, random, lie: changes.some(({ isBad }) => isBad) ? 0 : 1 },
    engine: () => engine as Engine,
  };
  const start = (args: readonly string[]): Engine => {
    engine = parts.start(args);
    return engine;
  };
  const internal: string[] = [];
  const first: readonly string[] = byQueue ? ['queue', 'run'] : ['run', ...begin];
  let running = start(first);
  const groups = [running];
  const struck = Promise.all(
    hits.map(async ({ fault, when }) => {
      if ('ms' in when) await instant(when.ms);
      else {
        await until(() => isDone || records() >= when.records);
        await instant(when.thenMs);
      }
      countIn(tally.faults, isDone ? 'after the end' : fault);
      await faults[fault](at);
    }),
  );
  for (let count = 1; ; count += 1) {
    const { code, out, err } = await running.ended;
    const error = errorOf(out);
    if (code === 70 || error === 'INTERNAL') internal.push(`the engine failed: ${out}${err}`);
    const run = byQueue ? undefined : current();
    if (run?.isFinished && (await show(parts, run.id)).decision?.type === 'rollback') rolledBack.add(run.id);
    else if (byQueue ? code === 0 || error === 'QUEUE_REMOVED' : run?.isFinished) break;
    countIn(tally.ends, code === null ? 'killed' : `${error ?? code}`);
    if (count === mostEngines) return [`engine ${count} ended with ${code}: ${out}${err}`];
    // As a person would: not before what failed is there again.
    if (count > 2) await struck;
    const open = current();
    const again = byQueue || open === undefined ? first : ['resume', open.id];
    running = start(again);
    groups.push(running);
  }
  isDone = true;
  await struck;
  // What of a killed engine lives on.
  for (const one of groups) one.kill(true);
  return [...internal, ...(await look(place, changes, base, hits, tally.checks))];
}

function errorOf(out: string): string | undefined {
  try {
    return JSON.parse(out).error?.code;
  } catch {
    return undefined;
  }
}

interface FoundRun {
  readonly id: string;
  readonly records: number;
  readonly isFinished: boolean;
  readonly ends: number;
}

/** Runs that no round before knows, by their journals. */
function newRuns({ parts, runs }: Place): readonly FoundRun[] {
  const root = join(parts.repo, '.git', 'writ', 'runs');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((id) => !runs.has(id))
    .map((id) => {
      const path = join(root, id, 'journal.jsonl');
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      const ends = text.split('"type":"run-finished"').length - 1;
      return { id, records: text.split('\n').length - 1, isFinished: ends > 0, ends };
    });
}

interface Shown {
  readonly state: string;
  readonly spec: { readonly id: string };
  readonly decision?: { readonly type: string; readonly rationale: string; readonly commit_sha?: string };
  readonly stages: readonly {
    readonly stage: string;
    readonly status: string;
    readonly expected: number;
    readonly ran: number;
    readonly findings: readonly {
      readonly rule: string;
      readonly severity: string;
      readonly check_id?: string;
    }[];
    readonly checks: readonly {
      readonly id: string;
      readonly status: string;
      readonly exit_code?: number;
      readonly ran_on?: { readonly worker?: string; readonly fence?: number };
      readonly tests?: { readonly passed: number; readonly failed: number };
    }[];
  }[];
  readonly findings: readonly { readonly rule: string; readonly detail?: { readonly code?: string } }[];
  readonly artifacts: readonly { readonly name: string; readonly stage: string }[];
}

async function show(parts: Parts, id: string): Promise<Shown> {
  const { code, out, err } = await parts.read(['show', id]);
  if (code !== 0) throw new Error(`\`writ show\` ended with ${code}: ${out}${err}`);
  return JSON.parse(out).data;
}

/** What every run of such a change comes to. Findings about refused results are not part of it. */
function factsOf({ decision, stages, findings, artifacts }: Shown, name: string): string {
  const facts = {
    decision: [decision?.type, decision?.rationale],
    stages: stages.map(({ stage, status, expected, ran, checks, findings: own }) => [
      ...[stage, status, expected, ran],
      checks
        .map(({ id, status: how, exit_code, tests }) => [id, how, exit_code, tests?.passed, tests?.failed])
        .sort(),
      own
        .filter(({ severity }) => severity === 'error')
        .map(({ rule, check_id }) => [rule, check_id])
        .sort(),
    ]),
    findings: findings.filter(({ detail }) => detail?.code !== 'JOB_REFUSED').map(({ rule }) => rule),
    artifacts: artifacts.map((one) => `${one.stage}/${one.name}`).sort(),
  };
  return JSON.stringify(facts).replaceAll(name, 'NAME');
}

/** Everything that holds after a round. */
async function look(
  place: Place,
  changes: Choice['changes'],
  base: string,
  hits: readonly Hit[],
  tally: Tally,
): Promise<readonly string[]> {
  const { parts, expected } = place;
  const found: string[] = [];
  let rolledBack = 0;
  const commits = parts.git(
    'log',
    '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x2C)',
    `${base}..main`,
  );
  const sealedBy = new Map<string, string[]>();
  for (const line of commits.split('\n').filter((one) => one !== '')) {
    const [commit = '', run = ''] = line.split(' ');
    sealedBy.set(run, [...(sealedBy.get(run) ?? []), commit]);
    place.sealed.push(commit);
  }
  const decided = new Map<string, string[]>();
  for (const { id, records, ends } of newRuns(place)) {
    place.runs.add(id);
    if (records === 0) continue;
    if (ends > 1) found.push(`run ${id} has ${ends} ends`);
    const shown = await show(parts, id);
    for (const { ran_on: on } of shown.stages.flatMap(({ checks }) => checks))
      countIn(tally, on?.worker === undefined ? 'here' : `dispatch ${on.fence}`);
    const seals = sealedBy.get(id) ?? [];
    const isCommit = shown.decision?.type === 'commit';
    if (seals.length !== (isCommit ? 1 : 0) || (isCommit && seals[0] !== shown.decision?.commit_sha))
      found.push(
        `run ${id} is ${shown.state}, ${JSON.stringify(shown.decision)}, with the seals ${seals.join()}`,
      );
    if (shown.decision?.type === 'rollback') rolledBack += 1;
    const change = changes.find(({ name }) => shown.spec.id === `change-${name}`);
    if (change === undefined) found.push(`run ${id} is of the spec ${shown.spec.id}`);
    if (change === undefined || ends === 0 || !['commit', 'abandon'].includes(shown.decision?.type ?? ''))
      continue;
    found.push(...(await lookAtContent(parts, id)));
    // The queue cancels a run that was ahead of its turn when the engine was killed, and begins another one.
    if (changes.length > 1 && shown.decision?.rationale.includes('`cancelled`')) continue;
    decided.set(change.name, [...(decided.get(change.name) ?? []), id]);
    const facts = factsOf(shown, change.name);
    const wanted = expected[change.isBad ? 'bad' : 'good'];
    if (facts !== wanted) found.push(`run ${id}: expected ${wanted}, found ${facts}`);
  }
  for (const { name } of changes) {
    const runs = decided.get(name) ?? [];
    if (runs.length !== 1) found.push(`change ${name} was decided by ${runs.length} runs: ${runs.join()}`);
  }
  const wanted = changes.filter(({ isBad }) => !isBad).length;
  const count = [...sealedBy.values()].flat().length;
  if (count !== wanted) found.push(`${count} commits, expected ${wanted}`);
  found.push(...(await lookAtLedger(place, wanted, rolledBack)));
  if (place.runs.size % 4 === 0) found.push(...(await fsck(parts)));
  for (const commit of [...sealedBy.values()].flat()) found.push(...(await verify(parts, commit)));
  found.push(...lookAtRemote(parts, hits));
  const temporary = join(parts.root, 'tmp');
  // An engine that was killed behind the end of its run leaves a lock, which is for `writ gc`.
  await removeStaleRunFiles({ commonDir: join(parts.repo, '.git') }, systemClock, temporary);
  const litter = traces({ repo: parts.repo, base, env: { TMPDIR: temporary } });
  // A probe of the sandbox belongs to no run that could remove it later.
  found.push(...litter.filter((one) => !/TMPDIR\/writ-(?:tracer|launcher)-/.test(one)));
  for (const name of readdirSync(temporary)) rmSync(join(temporary, name), { recursive: true, force: true });
  const status = parts.git('status', '--porcelain', '--untracked-files=all');
  if (status !== '') found.push(`the working tree has changes: ${status}`);
  return found;
}

/** No job is left, unless the remote was away when a run removed its jobs, or a liar writes for ever. */
function lookAtRemote({ gitIn, content }: Parts, hits: readonly Hit[]): readonly string[] {
  const left = gitIn(content, 'for-each-ref', '--format=%(refname)')
    .split('\n')
    .filter((ref) => ref !== '');
  for (const ref of left) gitIn(content, 'update-ref', '-d', ref);
  const isExcused = hits.some(({ fault }) => litters.includes(fault));
  return left.length === 0 || isExcused ? [] : [`left at the remote: ${left.join(' ')}`];
}

const litters: readonly FaultName[] = ['the git remote of jobs is away', 'a worker lies'];

/** Every artifact that the record names is in the bucket, with its size and digest. */
async function lookAtContent(parts: Parts, id: string): Promise<readonly string[]> {
  const ref = `refs/ai/content/${id}`;
  const found: string[] = [];
  const paths = parts.git('ls-tree', '-r', '--name-only', ref).split('\n');
  for (const path of paths.filter((one) => one !== '.artifact-refs')) {
    const { key, sha256, sizeBytes } = JSON.parse(parts.git('show', `${ref}:${path}`));
    const bytes = await parts.s3.read(`writ/${id}/${key}`);
    const digest = bytes === undefined ? 'absent' : createHash('sha256').update(bytes).digest('hex');
    if (digest !== sha256 || bytes?.length !== sizeBytes) found.push(`content ${path} of ${id} is ${digest}`);
  }
  if (!paths.includes('patchset.diff')) found.push(`run ${id} has the content ${paths.join()}`);
  return found;
}

/** What was in the log is there, and each sealed run has added one entry; one that was rolled back at most one. */
async function lookAtLedger(place: Place, sealed: number, rolledBack: number): Promise<readonly string[]> {
  const { parts, entries: before } = place;
  const found: string[] = [];
  place.entries = await parts.ledger.entries();
  if (before.some((entry, at) => entry !== place.entries[at])) found.push('the log lost an entry');
  const fresh = place.entries.slice(before.length).filter((entry) => entry.includes('"kind":"hashedrekord"'));
  if (fresh.length < sealed || fresh.length > sealed + rolledBack)
    found.push(
      `${fresh.length} new entries in the log, expected ${sealed}, and ${rolledBack} were rolled back`,
    );
  place.unsealed += fresh.length - sealed;
  if (new Set(place.entries).size !== place.entries.length) found.push('an entry is twice in the log');
  const digests = place.entries
    .map((entry) => /"digest":"[^"]+"/.exec(entry)?.[0])
    .filter((one) => one !== undefined);
  if (new Set(digests).size !== digests.length) found.push('a statement is twice in the log');
  for (const [size, roots] of parts.ledger.witness.shown)
    if (roots.size > 1) found.push(`the log has ${roots.size} heads of size ${size}`);
  return found;
}

async function verify(parts: Parts, commit: string): Promise<readonly string[]> {
  const { code, out, err } = await parts.read(['verify', commit, '--ledger-key', parts.ledger.vkey]);
  return code === 0 && JSON.parse(out).data.verified === true
    ? []
    : [`\`writ verify ${commit}\` ended with ${code}: ${out}${err}`];
}

async function fsck(parts: Parts): Promise<readonly string[]> {
  const { code, out, err } = await parts.read(['fsck', '--content']);
  return code === 0 ? [] : [`\`writ fsck\` ended with ${code}: ${out}${err}`];
}

/** At the end of a repository: every seal of it, all content, and the whole log. */
async function lookAtAll({ parts, sealed, unsealed, runs, entries }: Place): Promise<readonly string[]> {
  const found = [...(await fsck(parts))];
  for (const commit of sealed) found.push(...(await verify(parts, commit)));
  const refs = parts.git('for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ai/content').split('\n');
  for (const id of refs.filter((one) => runs.has(one))) found.push(...(await lookAtContent(parts, id)));
  const audit = await parts.read(['ledger', 'audit', parts.ledger.url, '--vkey', parts.ledger.vkey]);
  if (audit.code !== 0)
    found.push(`\`writ ledger audit\` ended with ${audit.code}: ${audit.out}${audit.err}`);
  const logged = entries.filter((entry) => entry.includes('"kind":"hashedrekord"')).length;
  if (logged !== sealed.length + unsealed)
    found.push(`${logged} entries in the log for ${sealed.length} seals`);
  return found;
}
