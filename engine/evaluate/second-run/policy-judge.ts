import { WritError } from '../../../core/base/errors.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { LaidPath } from '../../../core/interfaces/judge-reach.ts';
import { isTooling } from '../../../readers/judges/rules.ts';
import { readBlob } from '../../../workspace/git/blobs.ts';
import { writeLooseObject } from '../../../workspace/git/loose-object.ts';
import { listTree, type TreeEntry } from '../../../workspace/git/tree.ts';
import { type TreeLeaf, writeTree } from '../../../workspace/git/write-tree.ts';
import type { Attempt } from '../../state/open-run.ts';
import { askRule } from '../ask-rules.ts';
import { ruleQuestion } from '../rule-question.ts';
import { findJudge } from './find-judge.ts';

const rule = 'judge-changed';
/** A longer list of checks is cut by the rule. */
const maxChecks = 50;

/** A tree in which some paths are as the policy commit has them. */
export interface LaidTree {
  readonly tree: string;
  readonly laid: readonly LaidPath[];
}

/** The candidate with what judges it as the policy commit has it. */
export interface PolicyJudge extends LaidTree {
  /** The same without what may be the product that scripts of the judge lead to, where both have changed. */
  readonly apart?: LaidTree;
  /** Whether a check judges by any of it. */
  judges(checkId: string): boolean;
}

/**
 * Whether the patch rules left it to the policy commit's version to judge the change too: nobody is asked then. Costs
 * nothing.
 */
export function leavesJudging({ patchFindings }: Pick<Attempt, 'patchFindings'>): boolean {
  return patchFindings?.some(isLeft) ?? false;
}

/** Whether the policy commit refuses to evaluate checks that no tracer observes. */
export function demandsTracer({ ground }: Pick<Attempt, 'ground'>): boolean {
  return ground.config.rules[rule]?.observe === 'required';
}

/**
 * Asks the rule what of the judge the patch changes, and lays the policy commit's version over the candidate;
 * `undefined` where it is left to nobody. INTERNAL where the rule now says something else: nothing would judge then.
 */
export async function findPolicyJudge(attempt: Attempt): Promise<PolicyJudge | undefined> {
  const {
    identity: { contract, scope },
    ground,
    patch,
  } = attempt;
  const asked = ground.rules.get(rule);
  if (!leavesJudging(attempt)) return undefined;
  // Anew, since what was recorded of its answer was redacted.
  const question = ruleQuestion(attempt, { spec: contract.effective, patch, scope, artifacts: [] });
  const found = (asked ? await askRule(question, asked, []) : []).filter(isLeft);
  const expected = (attempt.patchFindings ?? []).filter(isLeft).length;
  if (found.length !== expected)
    throw new WritError('INTERNAL', {
      message: `rule \`${rule}\` told ${expected} changes of the judge, and ${found.length} when it was asked again`,
      detail: { rule, expected, found: found.length },
    });
  const laid = laidBy(found);
  const sure = laidBy(sureOf(found));
  const isMixed = sure.length > 0 && sure.length < laid.length;
  const lists = found.map(({ detail }) => (detail?.checks ?? []) as readonly string[]);
  const all = lists.some(({ length }) => length === 0 || length >= maxChecks);
  const checks = new Set(lists.flat());
  return {
    tree: await layJudge(attempt, laid),
    laid,
    ...(isMixed ? { apart: { tree: await layJudge(attempt, sure, false), laid: sure } } : {}),
    judges: (checkId) => all || checks.has(checkId),
  };
}

/** What judges by its place or its name; where that is nothing, what no other changed file leads to. */
function sureOf(found: readonly Finding[]): readonly Finding[] {
  const sure = found.filter((one) => !mayBeJudged(one));
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
 * The candidate's tree with these paths as the policy commit has them, links and modes included, and without those that
 * it does not have. Where the policy commit is ahead of the base, whatever else is reached from the checks there is
 * laid, too, unless `withReached` is false.
 */
async function layJudge(attempt: Attempt, paths: readonly LaidPath[], withReached = true): Promise<string> {
  const {
    identity: { contract },
    means: { scratch },
    patch,
    ground,
  } = attempt;
  const { tree: policy } = ground.policy;
  const isAhead = withReached && policy !== patch.baseTree;
  const reached = isAhead
    ? (await findJudge(scratch, policy, contract.effective, ground.config.workspace.prepare)).files
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

async function leafOf(
  { means: { scratch }, patch, ground }: Pick<Attempt, 'means' | 'patch' | 'ground'>,
  { path, parts }: LaidPath,
  entry: TreeEntry | undefined,
): Promise<TreeLeaf> {
  if (entry === undefined || parts === undefined) return entry;
  const own = await readBlob(scratch, patch.candidateTree, path);
  const theirs = await readBlob(scratch, ground.policy.tree, path);
  const text = own && theirs && layParts(own.toString('utf8'), theirs.toString('utf8'), parts);
  if (!text) return entry;
  const object = await writeLooseObject(scratch, { type: 'blob', bytes: Buffer.from(text) }, true);
  return { mode: entry.mode, object };
}

type Members = ReadonlyMap<string, unknown>;

/**
 * The text of a JSON manifest with these parts (`scripts.test`, `jest`) as another text of it has them, or without them
 * where that has none: what else a change says of its package stays, so that a new dependency is there and a new script
 * is not. `undefined` where either text is no object.
 */
export function layParts(text: string, other: string, parts: readonly string[]): string | undefined {
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

/** What names other files as a command does, and judges nothing by itself. */
const ofCommands =
  /[/`](?:package\.json|composer\.json|(?:GNU)?[Mm]akefile|[Jj]ustfile|\.justfile|[Tt]askfile[\w.-]*|[\w.-]+\.mk)`/;
const ofCheck = /^the command of check /;

/**
 * Whether a file that rule `judge-changed` tells may be what is judged: a script leads to it, and its place is none of
 * tooling. A file that a command names, configuration and manifests judge.
 */
export function mayBeJudged({ path, detail }: Finding): boolean {
  const { role, via } = detail ?? {};
  if (role !== 'script' || path === undefined || typeof via !== 'string') return false;
  return !ofCheck.test(via) && !ofCommands.test(via) && !isTooling(path);
}
