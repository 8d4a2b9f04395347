/* Decides a recorded run again and compares the results. */
import { canonicalDigest, canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Difference } from '../../core/interfaces/finding.ts';
import { madeByPlugins, stageNames } from '../../core/interfaces/stage.ts';
import type { ObjectType } from '../../store/object-shapes.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import {
  type CitationsRecord,
  citationsPath,
  lackingCitations,
  type PartsRecord,
  parseCitations,
  parseParts,
  partContentPath,
  partsPath,
  toolUsesIn,
  toolUsesPath,
  workerToolsFolder,
} from '../../store/record/summaries.ts';
import { camelCase } from '../../store/shape.ts';
import { parseObject, type StoredObject } from '../../store/stored-object.ts';
import { touchesGoverning } from '../../workspace/patch/patch-paths.ts';
import {
  type DecisionInput,
  type DecisionRecord,
  inputProblems,
  toDecided,
} from '../record/decision-input.ts';
import { type Part, placedErrors, toBlame } from './blame.ts';
import { decide } from './decide.ts';

/** What replaying a record came to. */
export interface Replay {
  readonly equal: boolean;
  /** The decision that the stored input leads to. */
  readonly decision?: DecisionRecord;
  readonly firstDifference?: Difference;
}

/** Digests of the record's files as somebody else wrote them down (the run's provenance), by path. */
export type ListedDigests = ReadonlyMap<string, string>;

const maxBytes = 64 * 1024 * 1024;

/**
 * Repeats a run's decision from its stored inputs alone. It first compares each input with its source record, in the
 * order of the input's fields. Then it compares the decision byte for byte, and does the same for each attempt. Pure.
 */
export function replayRun(files: ReadonlyMap<string, Uint8Array>, listed?: ListedDigests): Replay {
  const folders = [...files.keys()]
    .filter((path) => path.endsWith('/decision-input.json'))
    .map((path) => path.slice(0, -'decision-input.json'.length))
    .sort();
  let decision: DecisionRecord | undefined;
  try {
    decision = replayOne(files, '');
    for (const folder of folders) replayOne(files, folder);
    compareToolUses(files);
    replayParts(files, listed);
    for (const [path, sha256] of listed ?? []) {
      const bytes = files.get(path);
      if (bytes !== undefined) same(path, '', sha256, sha256Hex(bytes));
    }
    return { equal: true, decision };
  } catch (fault) {
    if (!(fault instanceof Differs)) throw fault;
    return { equal: false, ...(decision ? { decision } : {}), firstDifference: fault.difference };
  }
}

/** Ends the comparison at the first difference; never leaves this file. */
class Differs extends Error {
  readonly difference: Difference;

  constructor(difference: Difference) {
    super(difference.file);
    this.difference = difference;
  }
}

function replayOne(files: ReadonlyMap<string, Uint8Array>, folder: string): DecisionRecord {
  const at = (name: string): string => `${folder}${name}`;
  const inputFile = at('decision-input.json');
  const input = readJson(files, inputFile) as DecisionInput;
  same(inputFile, '', `${canonicalize(input)}\n`, textOf(files, inputFile));
  const [problem] = inputProblems(input);
  // An invalid input leads to abandon, by the same rule as in the run, so it has no fields to compare.
  if (problem === undefined) compareInput(files, folder, input);
  else if (typeof valueAt(input, 'runId') !== 'string')
    throw new Differs({ file: inputFile, field: '', expected: 'a decision input', found: clipped(problem) });
  const recordFile = at('decision-record.json');
  const record = readJson(files, recordFile) as Partial<DecisionRecord>;
  const decision = inWordsOf(record, decide(input));
  for (const [name, value] of Object.entries(decision))
    same(recordFile, `/${name}`, value, record[name as keyof DecisionRecord]);
  same(recordFile, '', `${canonicalize(decision)}\n`, textOf(files, recordFile));
  for (const name of folder === '' ? ['decision.json', sealPaths.rollback] : ['decision.json']) {
    if (name === sealPaths.rollback && !files.has(name)) continue;
    const object = readObject(files, at(name), 'decision');
    // The rollback beside a commit is of a swap that was lost; the first version knew no input of a failed sealing.
    const isOld = input.schema === 'urn:writ:decision-input:v1' && object.type === 'rollback';
    if (name === sealPaths.rollback) same(at(name), '/type', 'rollback', object.type);
    else if (!isOld) same(at(name), '/type', decision.type, object.type);
    same(at(name), '/reasons', decision.reasons, object.reasons);
    same(at(name), '/input_digest', decision.inputDigest, object.input_digest);
    same(at(name), '/decision_digest', canonicalDigest(decision), object.decision_digest);
    if (object.tree !== undefined) same(at(name), '/tree', input.candidateTree, object.tree);
  }
  return decision;
}

/** The decision with the words of earlier versions, if the record has them: they are signed. */
function inWordsOf({ rationale }: Partial<DecisionRecord>, decision: DecisionRecord): DecisionRecord {
  const old = decision.rationale.replace('; no rule reported an error', ' and no rule objects');
  return rationale === old ? { ...decision, rationale } : decision;
}

/**
 * Compares the record's tool summary with every ToolInvocation. Each ToolInvocation must belong to the Run of its
 * folder.
 */
function compareToolUses(files: ReadonlyMap<string, Uint8Array>): void {
  const told = files.has(toolUsesPath) ? readJson(files, toolUsesPath) : undefined;
  const found = readable(toolUsesPath, () => toolUsesIn(files));
  same(toolUsesPath, '', found, told);
  for (const path of files.keys()) {
    const at = path.indexOf(`/${workerToolsFolder}`);
    if (at < 0) continue;
    const run = readObject(files, `${path.slice(0, at)}/run.json`, 'run');
    same(path, '/run', run.object_id, readObject(files, path, 'tool_invocation').run);
  }
}

/** What each Task changed: together what the run changed. */
function replayParts(files: ReadonlyMap<string, Uint8Array>, listed: ListedDigests | undefined): void {
  if (!files.has(partsPath)) return;
  const found = compareParts({
    parts: readable(partsPath, () => parseParts(bytesOf(files, partsPath))),
    whole: readObject(files, 'patchset.json', 'patchset'),
    patchsetOf: (attempt) => readObject(files, `${attempt}/patchset.json`, 'patchset'),
    inputOf: (attempt) => readJson(files, `${attempt}/decision-input.json`) as Partial<DecisionInput>,
    nextOf: (attempt) => valueAt(readJson(files, `${attempt}/decision-record.json`), 'next'),
    listed,
  });
  if (found) throw new Differs(found);
}

/** Compares each input with its source record. */
function compareInput(files: ReadonlyMap<string, Uint8Array>, folder: string, input: DecisionInput): void {
  const file = `${folder}decision-input.json`;
  const run = readObject(files, `${folder}run.json`, 'run');
  const patchset = readObject(files, `${folder}patchset.json`, 'patchset');
  const spec = readJson(files, 'spec.json');
  same(file, '/runId', run.attempt_of ?? run.object_id, input.runId);
  same(file, '/specId', valueAt(spec, 'metadata', 'id'), input.specId);
  same(file, '/specDigest', canonicalDigest(spec), input.specDigest);
  same(file, '/baseCommit', run.base_commit, input.baseCommit);
  same(file, '/policyCommit', run.policy_commit, input.policyCommit);
  same(file, '/policyRef', run.policy_ref, input.policyRef);
  same(file, '/defaultRef', run.default_ref, input.defaultRef);
  same(file, '/patchDigest', patchset.digest, input.patchDigest);
  same(file, '/candidateTree', patchset.candidate_tree, input.candidateTree);
  const isTop = folder === '';
  const report = isTop ? readJson(files, 'gate-report.json') : undefined;
  if (isTop) same(file, '/gateReportDigest', canonicalDigest(report), input.gateReportDigest);
  same(file, '/touchesGoverning', touchesGoverning(patchset.files.map(toPatchFile)), input.touchesGoverning);
  same(file, '/patchFindings', patchset.findings.map(toDecided), input.patchFindings);
  const cited = `${folder}${citationsPath}`;
  if (!isTop && files.has(cited)) {
    const record = readable(cited, () => parseCitations(bytesOf(files, cited)));
    same(
      cited,
      '/needed',
      valueAt(readJson(files, 'effective.json'), 'evidence', 'minCitationsPerDecision'),
      record.needed,
    );
    const { expected, found } = citationsAgain(record, patchset.findings);
    if (input.worker === 'patch') same(`${folder}patchset.json`, '/findings', expected, found);
  }
  const evidence = [...files.keys()]
    .filter((path) => path.startsWith(`${folder}evidence/`))
    .sort()
    .map((path) => ({ path, object: readObject(files, path, 'evidence') }));
  const found = compareStages({ file, input, evidence, report });
  if (found) throw new Differs(found);
  const effective = readJson(files, 'effective.json');
  const asked = (...names: readonly string[]): unknown => valueAt(effective, ...names);
  // An older record, from before writ kept merged candidates, has no blame.
  const saysBlame = !isTop || input.schema !== 'urn:writ:decision-input:v1' || input.blame !== undefined;
  if (input.subject === 'candidate' && input.source === 'worker' && saysBlame) {
    const blame = blameAgain({
      input,
      findings: patchset.findings,
      evidence: evidence.map(({ object }) => object),
      maxRetries: Number(asked('execution', 'retry', 'maxRetries')),
      patchsetOf: (name) => readObject(files, `${name}/patchset.json`, 'patchset'),
      inputOf: (name) => readJson(files, `${name}/decision-input.json`) as Partial<DecisionInput>,
    });
    same(file, '/blame', blame, input.blame);
    if (blame?.tasks[0]) same(file, '/task/id', blame.tasks[0].id, input.task?.id);
  }
  same(
    file,
    '/wallClock/limitSeconds',
    asked('constraints', 'resources', 'maxWallClockSeconds'),
    input.wallClock.limitSeconds,
  );
  same(file, '/triggers/enabled', asked('execution', 'replan', 'triggers'), input.triggers.enabled);
  const needed = asked('evidence', 'minCitationsPerDecision');
  const tiers = asked('evidence', 'trustTiers');
  const citations = { needed, trusted: Array.isArray(tiers) && tiers.includes('repo') };
  // Only version 1 may lack citations, because it is older than them. A sealed record cannot be changed to look old:
  // its signed provenance lists the digest of this file.
  if (input.citations !== undefined) same(file, '/citations', citations, input.citations);
  // A person may have raised the cap while the run waited, but cannot lower it. 0 sets no cap.
  const cap = asked('constraints', 'resources', 'maxCostUnits');
  const isRaised = typeof cap === 'number' && cap > 0 && input.cost.limitUnits > cap;
  if (!isRaised) same(file, '/cost/limitUnits', cap, input.cost.limitUnits);
  same(file, '/human/required', asked('risk', 'humanInLoop', 'required'), input.human.required);
  for (const [name, value] of Object.entries(input.policy))
    same(file, `/policy/${name}`, asked('objmodel', 'decisionPolicy', name), value);
}

function toPatchFile({ path, old_path: oldPath }: StoredObject<'patchset'>['files'][number]): {
  readonly path: string;
  readonly oldPath?: string;
} {
  return { path, ...(oldPath === undefined ? {} : { oldPath }) };
}

function same(file: string, field: string, expected: unknown, found: unknown): void {
  const [wanted, got] = [canonicalText(expected), canonicalText(found)];
  if (wanted !== got) throw new Differs({ file, field, expected: clipped(wanted), found: clipped(got) });
}

function clipped(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

function textOf(files: ReadonlyMap<string, Uint8Array>, path: string): string {
  return Buffer.from(bytesOf(files, path)).toString('utf8');
}

function bytesOf(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = files.get(path);
  if (bytes) return bytes;
  throw new Differs({ file: path, field: '', expected: 'the file', found: 'nothing' });
}

function readJson(files: ReadonlyMap<string, Uint8Array>, path: string): unknown {
  return readable(
    path,
    () => parseStrictJson(bytesOf(files, path), { code: 'OBJECT_CORRUPT', maxBytes }).value,
  );
}

function readObject<T extends ObjectType>(
  files: ReadonlyMap<string, Uint8Array>,
  path: string,
  type: T,
): StoredObject<T> {
  return readable(path, () => parseObject(type, bytesOf(files, path)));
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    throw new Differs({
      file: path,
      field: '',
      expected: 'a well-formed record',
      found: clipped(fault.message),
    });
  }
}

function valueAt(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

/** The recorded inputs from which blame is computed. */
interface BlameQuestion {
  readonly input: DecisionInput;
  readonly findings: StoredObject<'patchset'>['findings'];
  readonly evidence: readonly StoredObject<'evidence'>[];
  /** `execution.retry.maxRetries` of the effective spec. */
  readonly maxRetries: number;
  /** The patchset and the input of the decision of an attempt that the candidate was merged from. */
  readonly patchsetOf: (attempt: string) => StoredObject<'patchset'>;
  readonly inputOf: (attempt: string) => Partial<DecisionInput>;
}

/**
 * Returns the Tasks that a candidate's findings blame, using the recorded patchsets of the attempts that it lists as
 * merged. Returns `undefined` if no finding names a file. Pure.
 */
export function blameAgain(question: BlameQuestion): DecisionInput['blame'] {
  const { input, findings, evidence, maxRetries } = question;
  const errors = placedErrors({
    findings,
    stages: stageNames.map((name) => {
      const own = evidence.filter(({ stage }) => stage === name);
      return {
        findings: own.find(({ check_id: id }) => id === undefined)?.findings ?? [],
        checks: own
          .filter(({ check_id: id }) => id !== undefined)
          .map((check) => ({ ...check, kind: check.check_kind ?? '' })),
      };
    }),
  });
  if (errors.length === 0) return undefined;
  const attempts = new Map<string, number>();
  const parts = (input.blame?.merged ?? []).map((name): Part => {
    const key = question.inputOf(name).task?.id ?? '';
    const [, revision, attempt] = /^task-\d+\/revision-(\d+)\/attempt-(\d+)$/.exec(name) ?? [];
    // A new revision of the plan resets the count.
    attempts.set(key, Number(revision) === input.replans.count + 1 ? Number(attempt) : 1);
    return { name, key, files: question.patchsetOf(name).files };
  });
  return toBlame(errors, parts, (key) => ({ attempt: attempts.get(key) ?? 1, maxRetries }));
}

/**
 * Returns the citation faults of an attempt: `found` as its findings record them, and `expected` as computed again
 * from its citations.
 */
function citationsAgain(
  record: CitationsRecord,
  findings: readonly { readonly rule: string; readonly message: string }[],
): { readonly expected: readonly string[]; readonly found: readonly string[] } {
  return {
    expected: lackingCitations(record).map(({ message }) => message),
    found: findings.flatMap(({ rule, message }) => (rule === 'citations' ? [message] : [])),
  };
}

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
function canonicalText(value: unknown): string {
  return value === undefined ? 'nothing' : canonicalize(value);
}
