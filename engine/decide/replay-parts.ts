/* Compares the parts of a decision's input with the records that they came from. */
import { canonicalize } from '../../core/base/canonical.ts';
import type { Difference } from '../../core/interfaces/finding.ts';
import { madeByPlugins, stageNames } from '../../core/interfaces/stage.ts';
import { type PartsRecord, partContentPath, partsPath } from '../../store/record/summaries.ts';
import { camelCase } from '../../store/shape.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { type DecisionInput, toDecided } from '../record/decision-input.ts';

type Recorded = Pick<StoredObject<'patchset'>, 'base_tree' | 'candidate_tree' | 'digest' | 'files'>;

/** The recorded changes of each Task of a run, and the data that they must match. */
interface PartsQuestion {
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
 * Checks that the parts, applied in order, give the run's change from its base to its candidate, for each file by
 * mode and object id. Each part must belong to an accepted attempt at its Task. If an attempt was merged onto its own
 * base, the part must equal that attempt's patchset. Returns the first difference. Pure: it reads no diff.
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

type Evidence = StoredObject<'evidence'>;

/** What the stages of a decision input are compared with. */
export interface StagesQuestion {
  readonly file: string;
  readonly input: DecisionInput;
  /** In the order of their paths. */
  readonly evidence: readonly { readonly path: string; readonly object: Evidence }[];
  /** `gate-report.json`, where the record has one: only for the candidate that was decided on. */
  readonly report: unknown;
}

/** Returns the first difference between the evidence, the gate report and the decision's input. */
export function compareStages({ file, input, evidence, report }: StagesQuestion): Difference | undefined {
  for (const [index, name] of stageNames.entries()) {
    const decided = input.stages[index];
    const at = `/stages/${index}`;
    if (decided?.stage !== name) return differs(file, `${at}/stage`, name, decided?.stage);
    const own = evidence.filter(({ object }) => object.stage === name);
    const whole = own.find(({ object }) => object.check_id === undefined);
    const checks = own.filter(({ object }) => object.check_id !== undefined);
    if (!whole) {
      if (checks.length > 0 || decided.status !== 'not-started')
        return differs(file, `${at}/status`, 'not-started', decided.status);
      continue;
    }
    const found =
      compared(file, `${at}/status`, whole.object.status, decided.status) ??
      compared(file, `${at}`, whole.object.summary, `${decided.ran} of ${decided.expected} checks ran`) ??
      compared(file, `${at}/findings`, whole.object.findings.map(toDecided), decided.findings) ??
      compared(
        file,
        `${at}/checks`,
        checks.map(({ object }) => ({
          id: object.check_id,
          status: object.status,
          required: object.required,
          ...(object.tolerated === undefined ? {} : { tolerated: object.tolerated }),
        })),
        decided.checks,
      );
    if (found) return found;
    if (report === undefined) continue;
    const stage = reported(report, name);
    for (const { path, object } of checks) {
      const check = stage?.checks?.find(({ id }) => id === object.check_id);
      for (const field of comparedFields) {
        const parted = compared(path, `/${field}`, check?.[camelCase(field)], object[field]);
        if (parted) return parted;
      }
      const parted = compared(
        path,
        '/reports',
        check?.artifacts?.map(({ sha256 }) => sha256),
        object.reports.map(({ sha256 }) => sha256),
      );
      if (parted) return parted;
    }
    const parted =
      compared(whole.path, '/findings', stage?.findings, whole.object.findings) ??
      compared(whole.path, '/asked', stage?.asked, whole.object.asked) ??
      compared(whole.path, '/made_by', madeByPlugins(madeAt(report, name)), whole.object.made_by ?? []);
    if (parted) return parted;
  }
  return input.stages.length === stageNames.length
    ? undefined
    : differs(file, '/stages', `${stageNames.length} stages`, `${input.stages.length}`);
}

/** Fields of the evidence of a check that the gate report has as well, in the order of the comparison. */
const comparedFields = [
  ...(['command', 'exit_code', 'tests', 'carried', 'wrote_outside', 'at_policy', 'with_base_tests'] as const),
  ...(['on_base_product', 'observed', 'scan', 'findings'] as const),
];

interface ReportedStage {
  readonly stage: string;
  readonly findings?: unknown;
  readonly asked?: unknown;
  readonly checks?: readonly (Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly artifacts?: readonly { readonly sha256: string }[];
  })[];
}

/** Artifacts of a stage that no check delivered. */
function madeAt(
  report: unknown,
  name: string,
): readonly { readonly sha256: string; readonly plugin?: string }[] {
  const { artifacts = [] } = report as {
    readonly artifacts?: readonly { stage: string; checkId?: string; sha256: string; plugin?: string }[];
  };
  return artifacts.filter(({ stage, checkId }) => stage === name && checkId === undefined);
}

/** The input holds the report's digest, so the report existed at the decision. */
function reported(report: unknown, name: string): ReportedStage | undefined {
  const { stages } = report as { readonly stages: readonly ReportedStage[] };
  return stages.find(({ stage }) => stage === name);
}

function compared(file: string, field: string, expected: unknown, found: unknown): Difference | undefined {
  return canonicalText(expected) === canonicalText(found) ? undefined : differs(file, field, expected, found);
}

function differs(file: string, field: string, expected: unknown, found: unknown): Difference {
  return {
    file,
    field,
    expected: canonicalText(expected).slice(0, 300),
    found: canonicalText(found).slice(0, 300),
  };
}

/** A value as canonical JSON for comparison; `nothing` if it is absent. */
export function canonicalText(value: unknown): string {
  return value === undefined ? 'nothing' : canonicalize(value);
}
