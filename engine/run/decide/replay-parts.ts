import type { Difference } from '../../../core/contract/difference.ts';
import { type PartsRecord, partContentPath, partsPath } from '../../store/record/parts.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { DecisionInput } from '../record/decision-input.ts';

type Recorded = Pick<StoredObject<'patchset'>, 'base_tree' | 'candidate_tree' | 'digest' | 'files'>;

/** What each Task of a run changed, as its record says it, and what that must agree with. */
export interface PartsQuestion {
  readonly parts: PartsRecord;
  /** What the run changed. */
  readonly whole: Recorded;
  readonly patchsetOf: (attempt: string) => Recorded;
  readonly inputOf: (attempt: string) => Partial<DecisionInput>;
  /** What was decided to become of an attempt. */
  readonly nextOf: (attempt: string) => unknown;
  /** Digests as the provenance lists them. */
  readonly listed: ReadonlyMap<string, string> | undefined;
}

/**
 * Whether the parts, one upon the other, are what the run changed: from its base to its candidate, each file by its
 * mode and object id; each of an accepted attempt at its Task, and of that attempt's own patchset where it was merged
 * with nothing. Answers the first difference. Pure: no diff is read.
 */
export function compareParts(question: PartsQuestion): Difference | undefined {
  const { parts: record, whole, patchsetOf, inputOf, nextOf, listed } = question;
  const differs = (field: string, expected: unknown, found: unknown): Difference | undefined =>
    expected === found
      ? undefined
      : { file: partsPath, field, expected: toText(expected), found: toText(found) };
  let at = whole.base_tree;
  let problem =
    differs('/base_tree', whole.base_tree, record.base_tree) ??
    differs('/candidate_tree', whole.candidate_tree, record.candidate_tree);
  const files: FileStates = new Map();
  for (const [index, part] of record.parts.entries()) {
    const field = `/parts/${index}`;
    const own = patchsetOf(part.attempt);
    const { digest: content } = part;
    problem ??=
      differs(`${field}/base_tree`, at, part.base_tree) ??
      differs(`${field}/task`, inputOf(part.attempt).task?.id, part.task) ??
      differs(`${field}/attempt`, 'merge', nextOf(part.attempt)) ??
      differs(`${field}/digest`, listed?.get(partContentPath(part)) ?? content, content) ??
      (own.base_tree === part.base_tree ? differs(`${field}/digest`, own.digest, content) : undefined) ??
      putFiles(files, part, (path, expected, found) => differs(`${field}/files ${path}`, expected, found));
    at = part.candidate_tree;
  }
  return (
    problem ??
    differs('/parts', whole.candidate_tree, at) ??
    compareSums(files, sumOf(whole), (path, expected, found) => differs(`/parts ${path}`, expected, found))
  );
}

/** A file before and after, as `mode object`; empty where there is none. */
type FileStates = Map<string, { readonly before: string; readonly after: string }>;
type Says = (path: string, expected: string, found: string) => Difference | undefined;

/** Puts what a patchset did onto what was done before it; a difference where it did not start from that. */
function putFiles(
  states: FileStates,
  { files }: Pick<Recorded, 'files'>,
  says: Says,
): Difference | undefined {
  const changes = new Map<string, { readonly before: string; readonly after: string }>();
  for (const file of files) {
    const old = stateOf(file.old_mode, file.old_blob);
    const { path, old_path: from = path } = file;
    const source = file.change_type === 'copy' ? states.get(from) : undefined;
    const problem = source && says(from, source.after, old);
    if (problem) return problem;
    if (from !== path && file.change_type === 'rename')
      changes.set(from, { before: old, after: changes.get(from)?.after ?? '' });
    const before = from === path ? old : (changes.get(path)?.before ?? '');
    changes.set(path, { before, after: stateOf(file.new_mode, file.new_blob) });
  }
  // What one patchset did, it did at once: each name is looked up before any of it is put.
  for (const [path, { before, after }] of changes) {
    const known = states.get(path);
    const problem = known && says(path, known.after, before);
    if (problem) return problem;
    states.set(path, { before: known?.before ?? before, after });
  }
  return undefined;
}

function sumOf(whole: Recorded): FileStates {
  const states: FileStates = new Map();
  putFiles(states, whole, () => undefined);
  return states;
}

function compareSums(found: FileStates, expected: FileStates, says: Says): Difference | undefined {
  for (const path of [...new Set([...expected.keys(), ...found.keys()])].sort()) {
    const [wanted, got] = [told(expected.get(path)), told(found.get(path))];
    const problem = says(path, wanted, got);
    if (problem) return problem;
  }
  return undefined;
}

/** What became of a file; empty where it is what it was. */
function told(state: { readonly before: string; readonly after: string } | undefined): string {
  return state === undefined || state.before === state.after ? '' : `${state.before} -> ${state.after}`;
}

function stateOf(mode: string | undefined, blob: string | undefined): string {
  return blob === undefined ? '' : `${mode} ${blob}`;
}

function toText(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300);
}
