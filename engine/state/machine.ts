/* What a run knows of this machine: parallelism, memory, its own program. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sha256Hex } from '../../core/base/canonical.ts';
import { clockSkewMs } from '../../core/base/clock.ts';
import type { ErrorCode } from '../../core/base/error-codes.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { Attempt } from './open-run.ts';

/** How many checks run side by side: the lower of `concurrency.maxParallelTasks` and `[checks] max_parallel`. */
export function parallelLimit(
  { execution }: Pick<EffectiveIntentSpec, 'execution'>,
  maxParallel: number,
): number {
  return Math.min(execution.concurrency.maxParallelTasks, maxParallel);
}

/**
 * Maps in order with at most `limit` under way. The first rejection stops new starts and is thrown once the started
 * ones settled.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  let failed = false;
  const lane = async (): Promise<void> => {
    while (!failed && next < items.length) {
      const index = next++;
      try {
        results[index] = await map(items[index] as T, index);
      } catch (fault) {
        failed = true;
        throw fault;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  const fault = lanes.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
  return results;
}

/** The attempt as its record shows it: the back end that its checks ran in, and what their workspaces lacked. */
export function ranIn(
  attempt: Attempt,
  { sandbox: sandboxName, skipped }: { readonly sandbox: string; readonly skipped: readonly string[] },
): Attempt {
  return { ...attempt, skipped, identity: { ...attempt.identity, sandboxName } };
}

/** Faults of this machine or of the run's own files, whatever the change is. */
const codes: ReadonlySet<string> = new Set<ErrorCode>([
  'ADVISORIES_CORRUPT',
  'ADVISORIES_MISSING',
  'CURRENT_DIRECTORY_GONE',
  'ENVIRONMENT_BROKEN',
  'EVIDENCE_WRITE_FAILED',
  'GIT_FAILED',
  'GIT_MISSING',
  'JOB_QUEUE_UNUSABLE',
  'JOB_REFUSED',
  'JOURNAL_CORRUPT',
  'OBJECTS_MISSING',
  'OBJECT_CORRUPT',
  'REMOTE_UNKNOWN',
  'RUN_INTERRUPTED',
  'SANDBOX_FAILED',
  'SANDBOX_UNAVAILABLE',
  'SPAWN_FAILED',
  'WORKERS_ABSENT',
  'WORKSPACE_DEPENDENCIES_MISSING',
  'WORKSPACE_UNSAFE',
]);

/** System errors that are not caused by the change: disk full, no memory, too many open files. */
const systemErrors: ReadonlySet<string> = new Set([
  'EAGAIN',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'EROFS',
]);

/**
 * Returns the error that stops a run if `fault` comes from the environment; `undefined` for any other fault. Such a
 * fault is not a verdict on the change, so no decision may follow from it. The run can be resumed.
 */
export function environmentFault(fault: unknown): WritError | undefined {
  if (isWritError(fault)) return codes.has(fault.code) ? fault : undefined;
  const { code, syscall } = Object(fault) as { readonly code?: unknown; readonly syscall?: unknown };
  if (typeof code !== 'string') return undefined;
  const isStart = typeof syscall === 'string' && syscall.startsWith('spawn');
  if (!systemErrors.has(code) && !isStart) return undefined;
  return new WritError('ENVIRONMENT_BROKEN', {
    message: `a check could not be run: ${messageOf(fault)}`,
    detail: { code },
    hints: [
      'correct that, then go on with `writ resume RUN`; the change is neither accepted nor refused yet',
    ],
    cause: fault,
  });
}

/**
 * The time at which a run ends that ends now: never before its start, which no verifier would accept.
 * ENVIRONMENT_BROKEN if the clock is further back than verifiers tolerate.
 */
export function endOf({
  identity: { startedAtMs },
  services: { settings },
}: {
  readonly identity: Pick<Attempt['identity'], 'startedAtMs'>;
  readonly services: { readonly settings: Pick<Attempt['services']['settings'], 'clock'> };
}): number {
  const nowMs = settings.clock.now();
  if (startedAtMs > nowMs + clockSkewMs) {
    const [start, now] = [new Date(startedAtMs).toISOString(), new Date(nowMs).toISOString()];
    throw new WritError('ENVIRONMENT_BROKEN', {
      message: `the clock of this machine says ${now}, but the run began at ${start}`,
      detail: { expected: `at least ${start}`, found: now },
      hints: [
        'correct the clock, then go on with `writ resume RUN`',
        'if it is right now and was ahead at the start, go on at that time, or end the run: `writ cancel RUN`',
      ],
    });
  }
  return Math.max(startedAtMs, nowMs);
}

/** Returns a fault of the environment with the run's id in its hints; any other fault as it is. */
export function namingRun(fault: unknown, runId: string): unknown {
  if (!isWritError(fault) || !codes.has(fault.code)) return fault;
  const { code, message, detail, cause } = fault;
  const hints = fault.hints.map((hint) =>
    hint.replaceAll(/`writ (resume|cancel) RUN`/g, `\`writ $1 ${runId}\``),
  );
  return new WritError(code, { message, detail, hints, cause });
}

/** Where the modules of this very program are: a checkout, or `dist` of the package. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = [
  'agent',
  'api',
  'attest',
  'bin',
  'core',
  'engine',
  'gates',
  'plugins',
  'providers',
  'readers',
  'spec',
  'store',
  'workspace',
];

let described: string | undefined;

/**
 * The program that runs, for `builderDependencies`: SHA-256 over a line `<sha256>  <path>` for each of its modules,
 * sorted by path, as `sha256sum` prints them (`docs/reference/build-type.md`). What it depends on is pinned by its
 * version.
 */
export async function describeEngine(version: string): Promise<DigestedThing> {
  described ??= digestModules();
  return { name: 'writ', uri: `pkg:npm/writ@${version}`, digest: { sha256: described } };
}

/** Synchronous, once: a promise for each of a thousand files costs more than reading and hashing them. */
function digestModules(): string {
  const lines = folders
    .flatMap((folder) => modulesBelow(folder))
    .sort()
    .map((path) => `${sha256Hex(readFileSync(root + path))}  ${path}\n`);
  return sha256Hex(lines.join(''));
}

/**
 * Paths from the root, with slashes. Empty if the directory does not exist: a package has fewer directories than a
 * checkout.
 */
function modulesBelow(directory: string): readonly string[] {
  try {
    return readdirSync(root + directory, { withFileTypes: true }).flatMap((entry) => {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) return modulesBelow(path);
      return entry.isFile() && /(?<!\.d)\.(?:ts|c?js)$/.test(entry.name) ? [path] : [];
    });
  } catch {
    return [];
  }
}
