import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../bin/command-table.ts';
import { systemClock } from '../../core/base/clock.ts';
import { removeStaleRunFiles } from '../../engine/record/stale-run-files.ts';
import { type Ran, runLine } from '../bin/host.ts';
import { seededRandom } from '../chance/seeded-random.ts';
import { launcherOptions, writProgram as writ } from '../starter/program.ts';
import { instant } from '../waiting/instant.ts';
import { until } from '../waiting/until.ts';
import { type Facts, readFacts, traces } from './facts.ts';
import { makeTemplate, type Template } from './template.ts';

export interface KillOptions {
  /** The same seed makes the same choices; instants still depend on the machine. */
  readonly seed: number;
  readonly rounds: number;
  readonly report?: (line: string) => void;
}

/** What came of it: every complaint names its round, its choices and the directory that is kept. */
export interface KillReport {
  readonly rounds: number;
  readonly undisturbedMs: number;
  /** Rounds in which the run was killed: before its journal, in the middle, after its end. */
  readonly killed: { readonly unbegun: number; readonly midway: number; readonly ended: number };
  /** Rounds in which a resume was killed as well. */
  readonly killedAgain: number;
  readonly complaints: readonly string[];
}

/** Far above what an undisturbed run takes: a run that waits for a lock of the dead shows here. */
const patienceMs = 240_000;
const maxResumes = 5;

interface Choice {
  /** The process alone, or its group: with every git and check it started. */
  readonly group: boolean;
  /** After so many milliseconds, or after so many records in the journal and then some. */
  readonly when: { readonly ms: number } | { readonly records: number; readonly thenMs: number };
}

/**
 * Kills real runs at instants spread over their whole length, ends each with `writ resume`, and compares what came out
 * with a run that nobody disturbed: decision, evidence, commit, ledger, repository, and that nothing is left lying
 * about.
 */
export async function killRuns(options: KillOptions): Promise<KillReport> {
  const { seed, rounds, report = () => {} } = options;
  const box = mkdtempSync(join(tmpdir(), 'writ-kill-'));
  const random = seededRandom(seed);
  const complaints: string[] = [];
  const killed = { unbegun: 0, midway: 0, ended: 0 };
  let killedAgain = 0;
  let done = 0;
  try {
    const template = makeTemplate(join(box, 'template'));
    // Fills the compile cache: the next one is measured.
    if (rounds > 1) await undisturbed(template, join(box, 'warm'));
    const { facts: expected, wholeMs, records } = await undisturbed(template, join(box, 'whole'));
    if (expected.decision !== 'commit')
      throw new Error(`expected a run that commits, found ${JSON.stringify(expected)}`);
    report(`undisturbed: ${Math.round(wholeMs)} ms, ${records} records`);
    for (; done < rounds; done += 1) {
      const choice = choose(random, done, wholeMs, records);
      const again = random() < 0.3 ? choose(random, done + 1, wholeMs, records) : undefined;
      const label = `seed ${seed} round ${done} ${JSON.stringify({ choice, again })}`;
      const place = openPlace(template, join(box, `round-${done}`));
      const faults = await oneRound(place, choice, again, expected, (state) => {
        killed[state] += 1;
      }).catch((fault: unknown) => [fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)]);
      if (again) killedAgain += 1;
      report(`${faults.length === 0 ? 'ok' : 'NOT OK'} ${label}`);
      if (faults.length === 0) rmSync(place.root, { recursive: true, force: true });
      else complaints.push(...faults.map((fault) => `${label}, kept in ${place.root}: ${fault}`));
      for (const fault of faults) report(`  ${fault}`);
    }
    return { rounds: done, undisturbedMs: wholeMs, killed, killedAgain, complaints };
  } finally {
    if (complaints.length === 0) rmSync(box, { recursive: true, force: true });
  }
}

/** A fresh copy of the template with a home and a TMPDIR of its own. */
interface Place {
  readonly root: string;
  readonly repo: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runLine: readonly string[];
}

function openPlace(template: Template, root: string): Place {
  const [repo, home, temporary] = ['repo', 'home', 'tmp'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, temporary]) mkdirSync(path, { recursive: true });
  cpSync(template.repo, repo, { recursive: true });
  return {
    root,
    repo,
    base: template.base,
    env: {
      ...template.env,
      HOME: home,
      TMPDIR: temporary,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(template.root, 'compile-cache'),
    },
    runLine: ['run', template.spec, '--patch', template.patch],
  };
}

async function undisturbed(template: Template, root: string) {
  const place = openPlace(template, root);
  const began = performance.now();
  const { code, out, err } = await start(place, place.runLine).ended;
  const wholeMs = performance.now() - began;
  if (code !== 0) throw new Error(`an undisturbed run answered ${code}: ${out}${err}`);
  const [run] = findRuns(place);
  if (run === undefined) throw new Error('an undisturbed run left no journal');
  const facts = await readFacts(place, run.id, (args) => ask(place, args));
  const faults = traces(place);
  if (faults.length > 0) throw new Error(`an undisturbed run left behind: ${faults.join(', ')}`);
  return { facts, wholeMs, records: run.records };
}

async function oneRound(
  place: Place,
  choice: Choice,
  again: Choice | undefined,
  expected: Facts,
  tell: (state: 'unbegun' | 'midway' | 'ended') => void,
): Promise<readonly string[]> {
  let first = start(place, place.runLine);
  await killAt(place, first, choice);
  let begun = findRuns(place).find(({ records }) => records > 0);
  tell(begun === undefined ? 'unbegun' : begun.isFinished ? 'ended' : 'midway');
  let endedBeforeKill = false;
  if (begun === undefined) {
    // It had promised nothing yet: it is simply started again.
    first = start(place, place.runLine);
    const { code, out, err } = await first.ended;
    if (code !== 0) return [`started again it answered ${code}: ${out}${err}`];
    begun = findRuns(place).find(({ records }) => records > 0);
    if (begun === undefined) return ['started again it left no journal'];
  } else {
    if (again) await killAt(place, start(place, ['resume', begun.id]), again);
    endedBeforeKill = isFinished(place, begun.id);
    for (let tries = 1; !isFinished(place, begun.id); tries += 1) {
      const { code, out, err } = await start(place, ['resume', begun.id]).ended;
      if (code !== 0 || tries === maxResumes) return [`resume ${tries} answered ${code}: ${out}${err}`];
    }
  }
  first.killGroup();
  // What a process killed behind the end of its run leaves is for `writ gc`; all else a resume must have cleaned up.
  if (endedBeforeKill)
    await removeStaleRunFiles({ commonDir: join(place.repo, '.git') }, systemClock, place.env.TMPDIR);
  const found = await readFacts(place, begun.id, (args) => ask(place, args));
  return [...differences(expected, found), ...traces(place)];
}

/** What only reads needs no process of its own. */
function ask({ repo, env }: Place, args: readonly string[]): Promise<Ran> {
  return runLine(['--json', ...args], commands, { cwd: repo, env });
}

function differences(expected: Facts, found: Facts): readonly string[] {
  return (Object.keys(expected) as (keyof Facts)[]).flatMap((key) => {
    const [wanted, got] = [JSON.stringify(expected[key]), JSON.stringify(found[key])];
    return wanted === got ? [] : [`${key}: expected ${wanted}, found ${got}`];
  });
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  kill(group: boolean): void;
  /** What of its group outlived it. */
  killGroup(): void;
}

function start(place: Place, args: readonly string[]): Started {
  const child = spawn(process.execPath, [...launcherOptions, writ, '--json', ...args], {
    cwd: place.repo,
    env: place.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString();
  });
  const signal = (pid: number): void => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended by itself.
    }
  };
  const pid = child.pid ?? 0;
  return {
    child,
    ended: new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal(-pid);
        reject(new Error(`\`writ ${args.join(' ')}\` did not end: ${text.out}${text.err}`));
      }, patienceMs);
      // Not `close`: an orphan of a killed run keeps the pipes open.
      child.on('exit', (code) => {
        clearTimeout(timer);
        setTimeout(() => resolve({ code, ...text }), 20);
      });
    }),
    kill: (group) => signal(group ? -pid : pid),
    killGroup: () => signal(-pid),
  };
}

async function killAt(place: Place, started: Started, { group, when }: Choice): Promise<void> {
  const isOver = (): boolean => started.child.exitCode !== null || started.child.signalCode !== null;
  if ('ms' in when) await Promise.race([instant(when.ms), started.ended]);
  else {
    const before = Math.max(0, ...findRuns(place).map(({ records }) => records));
    await until(() => isOver() || findRuns(place).some(({ records }) => records - before >= when.records));
    await instant(when.thenMs);
  }
  started.kill(group);
  await started.ended;
}

interface FoundRun {
  readonly id: string;
  readonly records: number;
  readonly isFinished: boolean;
}

function findRuns({ repo }: Place): readonly FoundRun[] {
  const root = join(repo, '.git', 'writ', 'runs');
  if (!existsSync(root)) return [];
  return readdirSync(root).map((id) => {
    const path = join(root, id, 'journal.jsonl');
    const text = existsSync(path) && statSync(path).size > 0 ? readFileSync(path, 'utf8') : '';
    return { id, records: text.split('\n').length - 1, isFinished: text.includes('"type":"run-finished"') };
  });
}

function isFinished(place: Place, id: string): boolean {
  return findRuns(place).some((run) => run.id === id && run.isFinished);
}

/** Half by the journal, half by the clock; alone and by group in turn. */
function choose(random: () => number, round: number, wholeMs: number, records: number): Choice {
  const group = round % 2 === 0;
  if (round % 4 >= 2) return { group, when: { ms: Math.round(wholeMs * (0.1 + 0.9 * random())) } };
  return {
    group,
    when: { records: 1 + Math.floor(random() * records), thenMs: Math.floor(random() * random() * 40) },
  };
}
