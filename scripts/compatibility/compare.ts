/* Runs corpora with two packages side by side and collects the differences. */
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
}

export interface CompareOptions {
  /** Unpacked packages. */
  readonly baseline: string;
  readonly candidate: string;
  /** Names of corpora; all where there are none. */
  readonly corpora: readonly string[];
  readonly seed: number;
  /** Told of each portion that both versions have run. */
  readonly onProgress?: (text: string) => void;
}

type Side = 'baseline' | 'candidate';
const sides: readonly Side[] = ['baseline', 'candidate'];

/** Compares two packages. Half of the processes run each of them, as many as there are cores and at least two. */
export async function compareVersions(options: CompareOptions): Promise<Comparison> {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-compare-')));
  try {
    const context: CorpusContext = { seed: options.seed, schema: await readSchema(options.baseline, box) };
    const contextFile = join(box, 'context.json');
    writeFileSync(contextFile, JSON.stringify(context));
    const chosen = corpora.filter(
      ({ name }) => options.corpora.length === 0 || options.corpora.includes(name),
    );
    const orders = chosen.flatMap((corpus) =>
      corpus.portions(context).map((_, portion): Order => ({ corpus: corpus.name, portion })),
    );
    const reports = { baseline: new Map<Order, Report>(), candidate: new Map<Order, Report>() };
    const lanes = Math.max(1, Math.floor(availableParallelism() / 2));
    const done = (order: Order): void => {
      if (sides.every((side) => reports[side].has(order)))
        options.onProgress?.(`${order.corpus} ${order.portion + 1}`);
    };
    await Promise.all(
      sides.flatMap((side) => {
        const queue = [...orders];
        return Array.from({ length: lanes }, async (_, lane) => {
          const work = join(box, side, String(lane));
          await runLane([options[side], work, contextFile], queue, (order, report) => {
            reports[side].set(order, report);
            done(order);
          });
        });
      }),
    );
    return collect(orders, reports.baseline, reports.candidate);
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

/** The schema of IntentSpecs that a package prints. */
async function readSchema(packageDirectory: string, cwd: string): Promise<Json> {
  const args = [join(packageDirectory, 'bin', 'writ.js'), 'spec', 'schema'];
  const { stdout, stderr } = await runToEnd(process.execPath, args, cwd, {
    PATH: process.env.PATH ?? '',
    HOME: cwd,
  });
  if (stdout.length === 0)
    throw new Error(`\`writ spec schema\` of ${packageDirectory} printed nothing: ${stderr}`);
  return JSON.parse(stdout.toString()) as Json;
}

/** One process that takes orders until there are none. A process that ends early is a fault of its order. */
async function runLane(
  args: readonly string[],
  queue: Order[],
  report: (order: Order, report: Report) => void,
): Promise<void> {
  mkdirSync(args[1] ?? '', { recursive: true });
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

function collect(
  orders: readonly Order[],
  baseline: ReadonlyMap<Order, Report>,
  candidate: ReadonlyMap<Order, Report>,
): Comparison {
  const found: Found[] = [];
  const counts = new Map<string, number>();
  const faults: string[] = [];
  for (const order of orders) {
    const [old, now] = [new Map(baseline.get(order)?.cases), new Map(candidate.get(order)?.cases)];
    for (const [side, report] of [
      ['baseline', baseline.get(order)],
      ['candidate', candidate.get(order)],
    ] as const)
      if (report?.fault !== undefined)
        faults.push(`${order.corpus} ${order.portion + 1}, ${side}: ${report.fault}`);
    const names = new Set([...old.keys(), ...now.keys()]);
    counts.set(order.corpus, (counts.get(order.corpus) ?? 0) + names.size);
    for (const name of names)
      for (const difference of differences(old.get(name), now.get(name)))
        found.push({ corpus: order.corpus, case: name, ...difference });
  }
  return { found, counts, faults };
}
