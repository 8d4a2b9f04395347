/* Runs the preflight checks that `plan` and `run` share. */
import { WritError } from '../../core/base/errors.ts';
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { requireSupportedVersion } from '../../spec/checks-of.ts';
import { builtInLedger, contractRows, type WritEngine } from '../../spec/contract-rows.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { requireNotEnded } from '../intent/intent-history.ts';
import { requireDistinctObjectives } from '../plan/plan-tasks.ts';
import { logUnusedCode, logWithoutUse } from '../state/checks.ts';
import type { RunRequest } from '../state/run-request.ts';

/** The request, whether it is to be run or only planned. */
export type OpeningRequest = Pick<
  RunRequest,
  | 'repositoryPath'
  | 'specBytes'
  | 'startsAt'
  | 'queued'
  | 'onto'
  | 'heldFor'
  | 'policy'
  | 'noMerge'
  | 'replaces'
  | 'noSeal'
  | 'requirePush'
  | 'localChanges'
  | 'askLocalChanges'
  | 'advice'
  | 'message'
  | 'author'
  | 'sandbox'
  | 'pluginAccess'
  | 'outside'
  | 'clock'
  | 'reach'
  | 'model'
  | 'secrets'
>;

/** Where a run that is opened puts what it needs before it begins. */
export interface OpeningPlace {
  /** Wraps the repository for the caller's reads. */
  keep(repository: Repository): Repository;
  /** Creates the place for the candidate; called at most once. */
  makeScratch(repository: Repository): Promise<Scratch>;
  /** Where files of plugins are kept. */
  pluginCache(repository: Repository): string;
  /** Creates no user files: a missing signing key is treated as one that would be created. */
  readonly dry: boolean;
  /** Reads only objects and refs of the repository. */
  readonly onlyReads?: true;
}

/**
 * The data that a preflight check needs: only the spec; the repository and its policy; this machine, its user's keys
 * and trust; or the change.
 */
type Sight = 'contract' | 'repository' | 'machine' | 'change';

/** One reason to refuse a run before any work. */
export interface OpeningCheck {
  readonly id: string;
  readonly sees: Sight;
  /** JSON Pointer to the part of the spec that it checks; '' for the whole spec, or for data outside it. */
  readonly about: string;
}

/** The result of a preflight check. A check that calls the result of a refused one is skipped. */
export interface Found<T> {
  (): T;
  readonly isFound: boolean;
}

/** Runs one preflight check: `find` throws a catalogued refusal, or returns what later checks use. */
export type Check = <T>(
  id: string,
  sees: Sight,
  about: string,
  find: () => T | Promise<T>,
) => Promise<Found<T>>;

const skipped = new Error('a check that this one depends on was refused');

/** A result that is known without a check; `undefined` counts as missing. */
export function given<T>(value: T | undefined): Found<T> {
  return value === undefined ? missing : found(value);
}

function found<T>(value: T): Found<T> {
  return Object.assign(() => value, { isFound: true });
}

const missing: Found<never> = Object.assign(
  () => {
    throw skipped;
  },
  { isFound: false },
);

/** Called with a refusal; checks that do not need the missing result still run. */
type HearRefusal = (refused: OpeningCheck, fault: WritError) => void;

/**
 * Returns what runs the checks of one opening. It throws the first refusal. With `hear` it reports every refusal
 * instead, but still throws errors that are not refusals (INTERNAL, RUN_INTERRUPTED).
 */
export function openChecks(hear?: HearRefusal): Check {
  return async (id, sees, about, find) => {
    try {
      return found(await find());
    } catch (fault) {
      if (fault === skipped) return missing;
      if (!hear || !(fault instanceof WritError) || [70, 130].includes(fault.exitCode)) throw fault;
      hear({ id, sees, about }, fault);
      return missing;
    }
  };
}

/** Results by name. */
type Results<P> = { readonly [K in keyof P]: P[K] extends Found<infer T> ? T : never };

/** Returns the results that there are. */
export function resultsOf<P extends Readonly<Record<string, Found<unknown>>>>(parts: P): Partial<Results<P>> {
  const known = Object.entries(parts).flatMap(([name, part]) => (part.isFound ? [[name, part()]] : []));
  return Object.fromEntries(known);
}

/** Returns all results of checks of which none was refused. */
export function everyResult<P extends Readonly<Record<string, Found<unknown>>>>(parts: P): Results<P> {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part()])) as Results<P>;
}

/** The checks that need only a parsed spec. They are cheap: `spec validate` runs them without a repository. */
export async function checkSpec(
  check: Check,
  ledger: WritEngine['ledger'],
  admitted: Found<AdmittedContract>,
  worker?: Found<Worker | undefined>,
): Promise<void> {
  await check('version-supported', 'contract', '/apiVersion', () =>
    requireSupportedVersion(admitted().document.apiVersion),
  );
  await check('rows-enforced', 'contract', '', () =>
    ledger.check(admitted().effective, { model: worker?.isFound === true && worker()?.usesModel === true }),
  );
  await check('not-ended', 'contract', '/lifecycle/status', () => requireNotEnded(admitted().document));
  await check('metrics-readable', 'contract', '/objmodel/runPolicy/metricsSchema', () =>
    compileMetricsSchema(admitted().effective.objmodel.runPolicy.metricsSchema),
  );
  await check('objectives-differ', 'contract', '/intent/objectives', () =>
    requireDistinctObjectives(admitted().effective.intent.objectives),
  );
}

/** Returns warnings about any run of a spec with the built-in plugins, without reading a repository. */
export async function contractIssues(admitted: AdmittedContract): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  const check = openChecks((asked, fault) => refused.push(...refusalIssues(asked, fault)));
  await checkSpec(check, builtInLedger(), given(admitted));
  return [
    ...refused,
    ...logWithoutUse(admitted.effective).map((words) =>
      warning(logUnusedCode, '/provenance/transparencyLog/mode', words),
    ),
  ];
}

/**
 * Converts a run's refusal to warnings for a user who validates the spec, because the document itself may be valid.
 * One warning for each unenforced row, and for each issue that the refusal names.
 */
export function refusalIssues(
  { about }: OpeningCheck,
  { code, message, detail }: WritError,
): readonly Issue[] {
  const words = (what: string): string => `${what}; a run is refused`;
  if (code === 'SPEC_UNENFORCED') {
    const rows = new Set(detail.rows as readonly string[]);
    return contractRows
      .filter(({ id }) => rows.has(id))
      .map(({ id, path, rule }) =>
        warning(code, path.replace(/\/\*.*$/, ''), words(`nothing loaded here enforces \`${id}\` (${rule})`)),
      );
  }
  if (code === 'INTENTSPEC_INVALID')
    return (detail.issues as readonly Issue[]).map((issue) =>
      warning(issue.code, issue.path, words(issue.message)),
    );
  return [warning(code, about, words(message))];
}
