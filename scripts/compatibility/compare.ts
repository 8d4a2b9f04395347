/* Runs corpora with two packages side by side and collects the differences. */
import { fork } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { corpora } from './corpora.ts';
import type { CorpusContext } from './corpus.ts';
import { differences } from './differences.ts';
import type { Order, Report } from './driver.ts';
import type { Found } from './explain.ts';
import type { Json } from './json.ts';
import { runToEnd } from './version.ts';

export interface Comparison {
  readonly found: readonly Found[];
  /** Cases by corpus. */
  readonly counts: ReadonlyMap<string, number>;
  /** Portions that a version could not run, with its reason. Nothing is known of their cases. */
  readonly faults: readonly string[];
  /** Cases in which a difference was seen once and did not repeat. */
  readonly unsteady: readonly string[];
}

export interface CompareOptions {
  /** Unpacked packages. */
  readonly baseline: string;
  readonly candidate: string;
  /** Names of corpora; all where there are none. */
  readonly corpora: readonly string[];
  readonly seed: number;
  /** A portion in which everything is explained is not run a second time. */
  readonly isExplained?: (found: Found) => boolean;
  /** Told of each portion that both versions have run. */
  readonly onProgress?: (text: string) => void;
}

/** What came of a portion. */
interface Outcome {
  readonly cases: number;
  readonly found: readonly Found[];
  readonly faults: readonly string[];
}

/**
 * Compares two packages. Half of the processes run each of them, as many as there are cores and at least two. A portion
 * with an unexplained difference is run twice more, and a difference counts if its place differs each time: the product
 * limits how long it reads a file, so a busy machine can change an answer.
 */
export async function compareVersions(options: CompareOptions): Promise<Comparison> {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-compare-')));
  try {
    const context: CorpusContext = { seed: options.seed, schema: await readSchema(options.baseline, box) };
    const contextFile = join(box, 'context.json');
    writeFileSync(contextFile, JSON.stringify(context));
    const orders = corpora
      .filter(({ name }) => options.corpora.length === 0 || options.corpora.includes(name))
      .flatMap((corpus) =>
        corpus.portions(context).map((_, portion): Order => ({ corpus: corpus.name, portion })),
      );
    const outcomes = await runBoth(options, orders, box, contextFile);
    const unsteady = new Set<string>();
    for (let again = 0; again < 2; again += 1) {
      const doubtful = orders.filter((order) => isDoubtful(outcomes.get(order), options.isExplained));
      if (doubtful.length === 0) break;
      const repeated = await runBoth(options, doubtful, box, contextFile);
      for (const order of doubtful)
        outcomes.set(order, steadyPart(outcomes.get(order), repeated.get(order), unsteady));
    }
    return collect(outcomes, [...unsteady]);
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

/** The schema of IntentSpecs that a package prints. */
async function readSchema(packageDirectory: string, cwd: string): Promise<Json> {
  const args = [join(packageDirectory, 'bin', 'writ.js'), 'spec', 'schema'];
  const env = { PATH: process.env.PATH ?? '', HOME: cwd };
  const { stdout, stderr } = await runToEnd(process.execPath, args, cwd, env);
  if (stdout.length === 0)
    throw new Error(`\`writ spec schema\` of ${packageDirectory} printed nothing: ${stderr}`);
  return JSON.parse(stdout.toString()) as Json;
}

/** Both versions run every order, each in processes of its own. */
async function runBoth(
  options: CompareOptions,
  orders: readonly Order[],
  box: string,
  contextFile: string,
): Promise<Map<Order, Outcome>> {
  const baseline = new Map<Order, Report>();
  const candidate = new Map<Order, Report>();
  const lanes = Math.min(orders.length, Math.max(1, Math.floor(availableParallelism() / 2)));
  const runSide = (packageDirectory: string, reports: Map<Order, Report>): readonly Promise<void>[] => {
    const queue = [...orders];
    return Array.from({ length: lanes }, () => {
      const work = mkdtempSync(join(box, 'lane-'));
      return runLane([packageDirectory, work, contextFile], queue, (order, report) => {
        reports.set(order, report);
        if (baseline.has(order) && candidate.has(order))
          options.onProgress?.(`${order.corpus} ${order.portion + 1}`);
      });
    });
  };
  await Promise.all([...runSide(options.baseline, baseline), ...runSide(options.candidate, candidate)]);
  return new Map(
    orders.map((order) => [order, compareReports(order, baseline.get(order), candidate.get(order))]),
  );
}

/** One process that takes orders until there are none. A process that ends early is a fault of its orders. */
async function runLane(
  args: readonly string[],
  queue: Order[],
  report: (order: Order, report: Report) => void,
): Promise<void> {
  const driver = fileURLToPath(new URL('./driver.ts', import.meta.url));
  const child = fork(driver, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = new Promise<Report>((resolve) => {
    child.once('error', (fault) => resolve({ cases: [], fault: fault.message }));
    child.once('exit', (code) => resolve({ cases: [], fault: `the process ended with ${code}` }));
  });
  for (let order = queue.shift(); order !== undefined; order = queue.shift()) {
    const answered = new Promise<Report>((resolve) =>
      child.once('message', (said) => resolve(said as Report)),
    );
    if (child.connected) child.send(order);
    report(order, await Promise.race([answered, ended]));
  }
  if (child.connected) child.disconnect();
  await ended;
}

function compareReports(order: Order, baseline: Report | undefined, candidate: Report | undefined): Outcome {
  const place = `${order.corpus} ${order.portion + 1}`;
  const faults = [
    ...(baseline?.fault === undefined ? [] : [`${place}, baseline: ${baseline.fault}`]),
    ...(candidate?.fault === undefined ? [] : [`${place}, candidate: ${candidate.fault}`]),
  ];
  const [old, now] = [new Map(baseline?.cases), new Map(candidate?.cases)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  // A version that could not run the portion differs in all of it: the fault says enough.
  const compared = faults.length > 0 ? [] : names;
  const found = compared.flatMap((name) =>
    differences(old.get(name), now.get(name)).map(
      (one): Found => ({ corpus: order.corpus, case: name, ...one }),
    ),
  );
  return { cases: names.length, found, faults };
}

function isDoubtful(outcome: Outcome | undefined, isExplained = (_: Found): boolean => false): boolean {
  return outcome !== undefined && (outcome.faults.length > 0 || !outcome.found.every(isExplained));
}

/** What two attempts share, by case and path; the values are those of the later one. */
function steadyPart(
  earlier: Outcome | undefined,
  later: Outcome | undefined,
  unsteady: Set<string>,
): Outcome {
  if (earlier === undefined || later === undefined) throw new Error('a portion was not run again');
  if (earlier.faults.length > 0 || later.faults.length > 0) return later;
  const place = (one: Found): string => JSON.stringify([one.case, one.path]);
  const before = new Set(earlier.found.map(place));
  const found = later.found.filter((one) => before.has(place(one)));
  const kept = new Set(found.map(place));
  for (const one of [...earlier.found, ...later.found])
    if (!kept.has(place(one))) unsteady.add(`${one.corpus} / ${one.case} / ${one.path}`);
  return { ...later, found };
}

function collect(outcomes: ReadonlyMap<Order, Outcome>, unsteady: readonly string[]): Comparison {
  const counts = new Map<string, number>();
  for (const [{ corpus }, { cases }] of outcomes) counts.set(corpus, (counts.get(corpus) ?? 0) + cases);
  const all = [...outcomes.values()];
  return {
    found: all.flatMap(({ found }) => found),
    counts,
    faults: all.flatMap(({ faults }) => faults),
    unsteady,
  };
}
