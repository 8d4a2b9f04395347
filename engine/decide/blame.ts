/* Assigns findings to the Tasks that wrote the files. */
import { canonicalize } from '../../core/base/canonical.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { BlamedFindings, DecidedFinding, DecisionInput } from '../record/decision-input.ts';

/** One accepted attempt that a candidate was merged from. */
export interface Part {
  /** Name of the attempt. */
  readonly name: string;
  /** Key of its Task. */
  readonly key: string;
  /** Names as they are recorded. */
  readonly files: readonly Pick<
    StoredObject<'patchset'>['files'][number],
    'path' | 'old_path' | 'change_type'
  >[];
}

/** The findings about a candidate that blame uses. */
export interface EvaluatedPart<F extends DecidedFinding> {
  readonly findings: readonly F[];
  readonly stages: readonly {
    readonly findings: readonly F[];
    readonly checks: readonly {
      readonly kind: string;
      readonly status: string;
      readonly required: boolean;
      readonly findings: readonly F[];
    }[];
  }[];
}

/** Findings by the Task that wrote the file, in the order of the parts, and findings in files that no Task wrote. */
export interface Blame<F> {
  readonly tasks: readonly { readonly key: string; readonly found: readonly F[] }[];
  readonly unwritten: readonly F[];
}

/**
 * What rules refused a candidate for and where: errors about the patch, of stages, and of required policy checks, that
 * name a file, each once. What a command or a suite reports names where something failed, not who broke it.
 */
export function placedErrors<F extends DecidedFinding>({ findings, stages }: EvaluatedPart<F>): readonly F[] {
  const ofStages = stages.flatMap((stage) => [
    ...stage.findings,
    ...stage.checks
      .filter(({ kind, status, required }) => kind === 'policy' && required && status === 'failed')
      .flatMap((check) => check.findings),
  ]);
  const placed = [...findings, ...ofStages].filter(
    ({ severity, path }) => severity === 'error' && path !== undefined,
  );
  // A rule that a policy check calls may also evaluate the stage.
  return [...new Map(placed.map((one) => [canonicalize(one), one])).values()];
}

/**
 * Who wrote the files that errors name: every Task that changed, added, deleted or renamed the file, or changed it
 * under the name that a part renamed it from. Pure.
 */
export function blame<F extends DecidedFinding>(errors: readonly F[], parts: readonly Part[]): Blame<F> {
  const writers = new Map<string, Set<string>>();
  const movers = new Map<string, Set<string>>();
  const earlierNames = new Map<string, Set<string>>();
  for (const { key, files } of parts) {
    for (const { path, old_path: from, change_type: change } of files) {
      note(writers, path, key);
      if (change !== 'rename' || from === undefined) continue;
      note(earlierNames, path, from);
      note(movers, from, key);
    }
  }
  const found = new Map<string, F[]>(parts.map(({ key }) => [key, []]));
  const unwritten: F[] = [];
  for (const error of errors) {
    const path = error.path ?? '';
    const names = new Set([path]);
    // A set is iterated over what is added to it meanwhile.
    for (const name of names) for (const earlier of earlierNames.get(name) ?? []) names.add(earlier);
    const wrote = new Set([...names].flatMap((name) => [...(writers.get(name) ?? [])]));
    // If the file is missing, blame the Task that renamed it.
    const guilty = wrote.size > 0 ? wrote : (movers.get(path) ?? new Set());
    for (const key of guilty) found.get(key)?.push(error);
    if (guilty.size === 0) unwritten.push(error);
  }
  return {
    tasks: [...found].flatMap(([key, own]) => (own.length > 0 ? [{ key, found: own }] : [])),
    unwritten,
  };
}

function note(known: Map<string, Set<string>>, at: string, what: string): void {
  const own = known.get(at);
  if (own) own.add(what);
  else known.set(at, new Set([what]));
}

/** Findings of which so many are named. */
const maxNamed = 20;

/** Builds the blame that a decision uses. Pure, because replay calls it again. */
export function toBlame(
  errors: readonly DecidedFinding[],
  parts: readonly Part[],
  retriesOf: (key: string) => { readonly attempt: number; readonly maxRetries: number },
): NonNullable<DecisionInput['blame']> {
  const { tasks, unwritten } = blame(errors, parts);
  return {
    merged: parts.map(({ name }) => name),
    tasks: tasks.map(({ key, found }) => ({ id: key, ...retriesOf(key), ...toFindings(found) })),
    unwritten: toFindings(unwritten),
  };
}

function toFindings(found: readonly DecidedFinding[]): BlamedFindings {
  return {
    count: found.length,
    first: found.slice(0, maxNamed).map(({ rule, severity, path, line }) => ({
      rule,
      severity,
      ...(path === undefined ? {} : { path }),
      ...(line === undefined ? {} : { line }),
    })),
  };
}
