/* Places the policy commit's verification inputs into the candidate's tree. */
import { WritError } from '../../../core/base/errors.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { LaidPath, PatchSet } from '../../../core/interfaces/patch-set.ts';
import type { Side } from '../../../core/interfaces/rule.ts';
import { isTooling } from '../../../readers/judges/rules.ts';
import { isNewFile } from '../../../readers/source/test-paths.ts';
import { readBlob } from '../../../workspace/git/read-objects.ts';
import { listTree, type TreeEntry } from '../../../workspace/git/tree.ts';
import { type TreeLeaf, writeLooseObject, writeTree } from '../../../workspace/git/write-tree.ts';
import type { Attempt } from '../../state/open-run.ts';
import { askRule, ruleQuestion } from '../evaluate-rules.ts';
import { findVerificationInputs } from './verification-inputs.ts';

const rule = 'judge-changed';
/** A longer list of checks is cut by the rule. */
const maxChecks = 50;

/** A tree in which some paths are as the policy commit has them. */
export interface PlacedTree {
  readonly tree: string;
  readonly laid: readonly LaidPath[];
}

/** The candidate with the policy commit's verification inputs. */
export interface PolicyInputs extends PlacedTree {
  /**
   * The same, but files that may be product are not restored: scripts among the verification inputs reach them. Set
   * if both kinds have changed.
   */
  readonly apart?: PlacedTree;
  /** No product of the base is restored: each file is new, or surely a verification input. */
  readonly isSure: boolean;
  /** Returns whether a check uses any of these files as verification input. */
  judges(checkId: string): boolean;
}

/**
 * Returns whether the patch rules require a second run with the policy commit's verification inputs, so that no
 * person reviews them. The test is cheap.
 */
export function leavesJudging({ patchFindings }: Pick<Attempt, 'patchFindings'>): boolean {
  return patchFindings?.some(isLeft) ?? false;
}

/** Whether the policy commit refuses to evaluate checks that no tracer observes. */
export function demandsTracer({ environment }: Pick<Attempt, 'environment'>): boolean {
  return environment.config.rules[rule]?.observe === 'required';
}

/**
 * Evaluates the rule for changed verification inputs, and restores the policy commit's version of them in the
 * candidate. Returns `undefined` if no second run is required. Throws INTERNAL if the rule now gives another result,
 * because the change would go unchecked.
 */
export async function findPolicyInputs(attempt: Attempt): Promise<PolicyInputs | undefined> {
  const {
    identity: { contract, scope },
    environment,
    patch,
  } = attempt;
  const asked = environment.rules.get(rule);
  if (!leavesJudging(attempt)) return undefined;
  // The rule is evaluated again, because its recorded answer was redacted.
  const question = ruleQuestion(attempt, { spec: contract.effective, patch, scope, artifacts: [] });
  const found = (asked ? await askRule(question, asked, []) : []).filter(isLeft);
  const expected = (attempt.patchFindings ?? []).filter(isLeft).length;
  if (found.length !== expected)
    throw new WritError('INTERNAL', {
      message: `rule \`${rule}\` reported ${expected} changes of verification inputs, and ${found.length} when it ran again`,
      detail: { rule, expected, found: found.length },
    });
  const laid = laidBy(found);
  const sure = laidBy(sureOf(found));
  const isMixed = sure.length > 0 && sure.length < laid.length;
  const lists = found.map(({ detail }) => (detail?.checks ?? []) as readonly string[]);
  const isNew = new Set<string | undefined>(
    patch.files.flatMap(({ path, changeType }) => (changeType === 'add' ? [path] : [])),
  );
  const all = lists.some(({ length }) => length === 0 || length >= maxChecks);
  const checks = new Set(lists.flat());
  return {
    tree: await layJudge(attempt, laid),
    laid,
    isSure: found.every((one) => !mayBeEvaluated(one) || isNew.has(one.path)),
    ...(isMixed ? { apart: { tree: await layJudge(attempt, sure, false), laid: sure } } : {}),
    judges: (checkId) => all || checks.has(checkId),
  };
}

/**
 * Returns the files that their path or name identifies as verification inputs. If there are none, returns those that
 * no other changed file leads to.
 */
function sureOf(found: readonly Finding[]): readonly Finding[] {
  const sure = found.filter((one) => !mayBeEvaluated(one));
  const paths = new Set(found.map(({ path }) => `\`${path}\``));
  return sure.length > 0 ? sure : found.filter(({ detail }) => !paths.has(String(detail?.via)));
}

function laidBy(found: readonly Finding[]): readonly LaidPath[] {
  return found.flatMap(({ detail }) => (detail?.lay ?? []) as readonly LaidPath[]);
}

function isLeft({ rule: by, detail }: Finding): boolean {
  return by === rule && detail?.judgedBy === 'policy';
}

/**
 * Returns the candidate's tree with the policy commit's version of these paths, including links and modes; paths that
 * the policy commit lacks are removed. If the policy commit is ahead of the base, other files reached from the checks
 * are restored too, unless `withReached` is false.
 */
async function layJudge(attempt: Attempt, paths: readonly LaidPath[], withReached = true): Promise<string> {
  const {
    identity: { contract },
    services: { scratch },
    patch,
    environment,
  } = attempt;
  const { tree: policy } = environment.policy;
  const isAhead = withReached && policy !== patch.baseTree;
  const reached = isAhead
    ? (
        await findVerificationInputs(
          scratch,
          environment.repository.root,
          policy,
          contract.effective,
          environment.config.workspace.prepare,
        )
      ).files
    : [];
  const wanted = new Map<string, LaidPath>(
    reached
      .filter(({ role }) => role === 'script' || role === 'config')
      .map(({ path }) => [path, { path }] as const),
  );
  for (const laid of paths) wanted.set(laid.path, laid);
  const entries = new Map((await listTree(scratch, policy)).map((entry) => [entry.path, entry]));
  const leaves = new Map<string, TreeLeaf>();
  for (const laid of wanted.values())
    leaves.set(laid.path, await leafOf(attempt, laid, entries.get(laid.path)));
  return writeTree({ from: scratch, to: scratch }, leaves, patch.candidateTree);
}

/**
 * The tree of one side, with these paths of the patch as the other side has them, and without some files; `own`: a
 * tree with further differences.
 */
export async function mixedTree(
  { services: { scratch }, patch }: Pick<Attempt, 'services' | 'patch'>,
  side: Side,
  paths: readonly string[],
  without: readonly string[] = [],
  own = treeOf(patch, side),
): Promise<string> {
  if (paths.length + without.length === 0) return own;
  const leaves = new Map<string, TreeLeaf>([...paths, ...without].map((path) => [path, undefined]));
  for (const file of patch.files) {
    const { path, oldPath = path, oldMode, oldBlob, newMode, newBlob } = file;
    const [at, mode, object] =
      side === 'base' ? [path, newMode, newBlob] : [isNewFile(file) ? undefined : oldPath, oldMode, oldBlob];
    if (at !== undefined && paths.includes(at) && mode !== undefined && object !== undefined)
      leaves.set(at, { mode, object });
  }
  return writeTree({ from: scratch, to: scratch }, leaves, own);
}

export function treeOf(
  { baseTree, candidateTree }: Pick<PatchSet, 'baseTree' | 'candidateTree'>,
  side: Side,
): string {
  return side === 'base' ? baseTree : candidateTree;
}

async function leafOf(
  { services: { scratch }, patch, environment }: Pick<Attempt, 'services' | 'patch' | 'environment'>,
  { path, parts }: LaidPath,
  entry: TreeEntry | undefined,
): Promise<TreeLeaf> {
  if (entry === undefined || parts === undefined) return entry;
  const own = await readBlob(scratch, patch.candidateTree, path);
  const theirs = await readBlob(scratch, environment.policy.tree, path);
  const text = own && theirs && placeParts(own.toString('utf8'), theirs.toString('utf8'), parts);
  if (!text) return entry;
  const object = await writeLooseObject(scratch, { type: 'blob', bytes: Buffer.from(text) }, true);
  return { mode: entry.mode, object };
}

type Members = ReadonlyMap<string, unknown>;

/**
 * Replaces these parts (`scripts.test`, `jest`) of a JSON manifest with those of another text, or removes parts that
 * the other text lacks. Other members keep the change's values, so a new dependency is present and a new script is
 * not. Returns `undefined` if either text is not an object.
 */
export function placeParts(text: string, other: string, parts: readonly string[]): string | undefined {
  const [own, theirs] = [membersOf(text), membersOf(other)];
  if (own === undefined || theirs === undefined) return undefined;
  const laid = new Map(own);
  for (const part of parts) {
    const dot = part.indexOf('.');
    if (dot < 0) lay(laid, part, theirs);
    else {
      const group = part.slice(0, dot);
      const inside = new Map(entriesOf(laid.get(group)) ?? []);
      lay(inside, part.slice(dot + 1), new Map(entriesOf(theirs.get(group)) ?? []));
      laid.set(group, Object.fromEntries(inside));
    }
  }
  return `${JSON.stringify(Object.fromEntries(laid), undefined, 2)}\n`;
}

function lay(own: Map<string, unknown>, name: string, theirs: Members): void {
  if (theirs.has(name)) own.set(name, theirs.get(name));
  else own.delete(name);
}

function membersOf(text: string): Members | undefined {
  try {
    const entries = entriesOf(JSON.parse(text));
    return entries && new Map(entries);
  } catch {
    return undefined;
  }
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value);
}

/** Files that name other files as a command does, and that are not verification inputs themselves. */
const ofCommands =
  /[/`](?:package\.json|composer\.json|(?:GNU)?[Mm]akefile|[Jj]ustfile|\.justfile|[Tt]askfile[\w.-]*|[\w.-]+\.mk)`/;
const ofCheck = /^the command of check /;

/**
 * Returns whether a file reported by rule `judge-changed` may be product: a script leads to it, and its path is not
 * tooling. A file that a command names, configuration and manifests are verification inputs.
 */
export function mayBeEvaluated({ path, detail }: Finding): boolean {
  const { role, via } = detail ?? {};
  if (role !== 'script' || path === undefined || typeof via !== 'string') return false;
  return !ofCheck.test(via) && !ofCommands.test(via) && !isTooling(path);
}
