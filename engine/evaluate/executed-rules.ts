/* Evaluates the rules that compare executed tests, and runs checks again for them. */
import { canonicalDigest, canonicalize } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { CheckOutcome, ExecutedTests } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Executed, ExecutedCheck, Rerun, Rule, Side } from '../../core/interfaces/rule.ts';
import type { ArtifactRecord, LaidRun, StageRecord } from '../../core/interfaces/stage.ts';
import { followLinks } from '../../readers/judges/tree.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { isNewFile, isOfTests } from '../../readers/source/test-paths.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { type TreeLeaf, writeTree } from '../../workspace/git/write-tree.ts';
import { keepSecondRun } from '../record/evaluation-objects.ts';
import { type Attempt, policyOf } from '../state/open-run.ts';
import { isBelow } from '../state/open-scanners.ts';
import { recordAnswer } from '../state/outcome.ts';
import { askRule, ruleQuestion } from './evaluate-rules.ts';
import { footprintKey, isTouched, untrackedInputs, verifyingAt } from './observe/footprint-key.ts';
import type { OpeningWorkspace, WorkspaceSide } from './open-workspace.ts';
import { mixedTree, treeOf } from './second-run/policy-inputs.ts';
import type { CheckByPolicy } from './second-run/run-by-policy.ts';
import { vouchedCacheOf } from './workspace-dependencies/shared-directory.ts';

const maxTextBytes = 32 * 1024 * 1024;

/** Findings of the rules that compare executions of a check, and the runs that they requested. */
export interface ExecutedFurther {
  readonly findings: readonly Finding[];
  readonly outcomes: readonly CheckOutcome[];
  readonly withBaseTests?: LaidRun;
  readonly onBaseProduct?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

/** Runs the check in a tree, without paths carried over from other candidates. */
type RunIn = (side: WorkspaceSide) => Promise<CheckOutcome>;

/** Evaluates each rule of the spec that compares executions, for a check that passed. */
export async function evaluateExecuted(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: CheckByPolicy,
  ran: CheckOutcome,
  run: RunIn,
): Promise<ExecutedFurther> {
  const { identity, services, patch } = attempt;
  const isPassed = ran.result !== undefined && !ran.findings.some(({ severity }) => severity === 'error');
  const rules = isPassed ? executedRules(attempt) : [];
  const findings: Finding[] = [];
  const reruns = openReruns(attempt, workspace, task, run);
  const reads = attempt.observed?.reads?.[task.check.id];
  const { isForGoal = false, rewritten } = services.settings;
  for (const rule of rules) {
    const asked: ExecutedCheck = {
      spec: identity.contract.effective,
      patch,
      stage: task.stage,
      check: task.check,
      ran,
      ...(reads ? { reads } : {}),
      isForGoal,
      ...(rewritten?.checks.includes(task.check.id) ? { rewritten } : {}),
      rerun: reruns.rerun,
      testsByUse: async () => (await testsByUse(attempt)).paths,
      leadsToTests: async () => (await testsByUse(attempt)).checks.has(task.check.id),
      readTexts: (side, paths) => readTexts(attempt, side, paths),
      ask: (args) => askAboutPatch(attempt, rule, args),
    };
    const answer = await (await rule.executed()).judgeCheck(asked);
    findings.push(...(answer.findings ?? []));
    if (answer.note === undefined) continue;
    const { note } = answer;
    await recordAnswer(
      attempt,
      stepOf(rule, task.check.id),
      () => [note],
      ([clean]) => clean,
    );
  }
  // Where this candidate becomes the base, its tests are known.
  if (rules.length > 0 && ran.executed) await (await reruns.cache())?.keep(patch.candidateTree, ran);
  return { findings, ...reruns.kept() };
}

/** What commands and links show of tests. */
interface TestsByUse {
  /** Changed paths of the base that are tests by the command of a check, or by a link among tests. */
  readonly paths: readonly string[];
  /** Ids of checks with commands that lead to tests. */
  readonly checks: ReadonlySet<string>;
}

/** The same for every check of a change. */
const testsOfPatch = new WeakMap<PatchSet, Promise<TestsByUse>>();

function testsByUse(attempt: Attempt): Promise<TestsByUse> {
  const found = testsOfPatch.get(attempt.patch) ?? findTestsByUse(attempt);
  testsOfPatch.set(attempt.patch, found);
  return found;
}

async function findTestsByUse(attempt: Attempt): Promise<TestsByUse> {
  const { patch } = attempt;
  const old = patch.files.filter((file) => !isNewFile(file));
  const unnamed = old.map(({ path, oldPath = path }) => oldPath).filter((path) => !isOfTests(path));
  const { reach, links } = await verifyingAt(attempt, patch.baseTree);
  const tests = reach.files.filter(({ path, role }) => role === 'test' || isOfTests(path));
  const named = new Set(tests.flatMap(({ path, role }) => (role === 'test' ? [path] : [])));
  const linked = [...links.keys()].filter(isOfTests).map((link) => followLinks(link, links).path);
  return {
    paths: unnamed.filter((path) => named.has(path) || isBelow(path, linked)),
    checks: new Set(tests.flatMap(({ checks }) => checks)),
  };
}

/** Whether a command came to its end by itself. */
function isEnded({ result }: CheckOutcome): boolean {
  return result !== undefined && !(result.timedOut || result.aborted || result.exceeded);
}

/** Evaluates the same rules after a stage has ended. */
export async function evaluateExecutedStage(
  attempt: Attempt,
  { stage, checks }: Pick<StageRecord, 'stage' | 'checks'>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const rule of executedRules(attempt)) {
    const { judgeStage } = await rule.executed();
    const notes = new Map<string, unknown>();
    for (const { id } of checks) {
      const ended = attempt.services.steps.ended(stepOf(rule, id));
      if (ended) notes.set(id, ended.answer);
    }
    const asked = {
      spec: attempt.identity.contract.effective,
      patch: attempt.patch,
      ask: (args: readonly string[]) => askAboutPatch(attempt, rule, args),
    };
    findings.push(...((await judgeStage?.({ ...asked, stage, checks, notes })) ?? []));
  }
  return findings;
}

type RuleOfExecutions = Rule & Required<Pick<Rule, 'executed'>>;

function executedRules({ environment, identity, isPart }: Attempt): readonly RuleOfExecutions[] {
  if (isPart) return [];
  return environment.rules
    .at('patch', identity.contract.effective)
    .filter((rule): rule is RuleOfExecutions => rule.executed !== undefined);
}

function stepOf({ id }: Rule, check: string): string {
  return `${id}/${check}`;
}

function askAboutPatch(attempt: Attempt, rule: Rule, args: readonly string[]): Promise<readonly Finding[]> {
  const { identity, patch, box } = attempt;
  const input = {
    spec: identity.contract.effective,
    patch,
    scope: identity.scope,
    artifacts: box.list(),
  };
  return askRule(ruleQuestion(attempt, input), rule, args);
}

/** The further runs of one check: each tree once, each kept as evidence. */
function openReruns(attempt: Attempt, workspace: OpeningWorkspace, task: CheckByPolicy, run: RunIn) {
  const asked = new Map<string, Promise<Executed>>();
  const outcomes: CheckOutcome[] = [];
  const artifacts: ArtifactRecord[] = [];
  const records: { withBaseTests?: LaidRun; onBaseProduct?: LaidRun } = {};
  let opened: ReturnType<typeof keptExecutions> | undefined;
  const cache = (): ReturnType<typeof keptExecutions> => {
    opened ??= keptExecutions(attempt, workspace, task.check);
    return opened;
  };
  const runThere = async (where: Rerun): Promise<Executed> => {
    const paths = [...(where.tests ?? []), ...(where.verificationInputs ?? [])];
    const tree = where.asBefore
      ? await treeAsBefore(attempt, where.tree, where.asBefore)
      : await mixedTree(attempt, where.tree, paths, where.without);
    const { baseTree } = attempt.patch;
    const kept = tree === baseTree ? await cache() : undefined;
    const known = await kept?.find(tree);
    if (known) return known;
    const side = tree === baseTree ? workspace.base : workspace.over(tree, where.tree);
    // Its tools are those of the check, which are recorded.
    const { tools: _, ...outcome } = await run(side);
    outcomes.push(outcome);
    if (isEnded(outcome)) await kept?.keep(tree, outcome);
    const hasError = outcome.findings.some(({ severity }) => severity === 'error');
    const isKilled = outcome.result?.aborted === true || !hasError;
    const ended: Executed = isKilled
      ? outcome
      : { ...outcome, failedBy: isEnded(outcome) ? 'outcome' : 'limit' };
    if (paths.length === 0) return ended;
    const kind = where.tree === 'candidate' ? 'withBaseTests' : 'onBaseProduct';
    // The record holds one run of each kind.
    if (records[kind] !== undefined) return ended;
    // A passed run needs no log: its counts are complete.
    const isTold = where.tree === 'candidate' && hasError;
    const { record, log } = await keepSecondRun(attempt, task, outcome, {
      ...(isTold ? { name: 'base-tests-log' } : {}),
      tree,
      laid: paths.map((path) => ({ path })),
    });
    records[kind] = record;
    if (log) artifacts.push(log);
    return ended;
  };
  return {
    rerun: async (where: Rerun): Promise<Executed | undefined> => {
      if (attempt.patch.baseCommit === undefined || attempt.services.wallClockExceeded()) return undefined;
      const key = canonicalize({ tests: [], verificationInputs: [], ...where });
      const running = asked.get(key) ?? runThere(where);
      asked.set(key, running);
      return running;
    },
    cache,
    kept: () => ({ outcomes, artifacts, ...records }),
  };
}

/** The tree of one side, with these files as they were before the goal's first rewriting. */
async function treeAsBefore(
  { services: { scratch, settings }, patch }: Pick<Attempt, 'services' | 'patch'>,
  side: Side,
  paths: readonly string[],
): Promise<string> {
  const own = treeOf(patch, side);
  if (settings.rewritten === undefined) return own;
  const before = await listTree(scratch, settings.rewritten.base);
  const leaves = new Map<string, TreeLeaf>(
    before
      .filter(({ path }) => paths.includes(path))
      .map(({ path, mode, object }) => [path, { mode, object }]),
  );
  return writeTree({ from: scratch, to: scratch }, leaves, own);
}

async function readTexts(
  { services: { scratch }, patch }: Pick<Attempt, 'services' | 'patch'>,
  side: Side,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  try {
    const found = await readBlobs(scratch, treeOf(patch, side), paths, maxTextBytes);
    return new Map([...found].map(([path, bytes]) => [path, bytes.toString('utf8')]));
  } catch (fault) {
    if (!isWritError(fault, 'INPUT_TOO_LARGE')) throw fault;
    return new Map();
  }
}

/** What is kept of a run: the tests that its report names, if it left one. */
interface KeptExecution {
  readonly executed?: Omit<ExecutedTests, 'names'> & { readonly names: readonly string[] };
}

/** What a check did in trees in which it ran before, on this machine: a candidate is the base of the next change. */
interface KeptExecutions {
  find(tree: string): Promise<Pick<CheckOutcome, 'executed'> | undefined>;
  keep(tree: string, outcome: Pick<CheckOutcome, 'executed'>): Promise<void>;
}

/**
 * Keeps runs of one check by the digest of all that it can observe: the tree, its command, sandbox and programs, and
 * its untracked directories. Returns `undefined` if it can observe more: a network, secrets, carried paths of other
 * checks, or directories that the patch may change.
 */
export async function keptExecutions(
  attempt: Attempt,
  workspace: Pick<OpeningWorkspace, 'dependencies'>,
  check: EffectiveCheck,
): Promise<KeptExecutions | undefined> {
  const { environment, patch, identity } = attempt;
  const { security, constraints } = identity.contract.effective;
  const { carry, prepare, share } = environment.config.workspace;
  const isOpen =
    constraints.security.networkPolicy !== 'deny' ||
    security.secrets.policy === 'allow-scoped' ||
    carry.length > 0 ||
    (prepare.length + share.length > 0 && isTouched(patch, untrackedInputs(environment.config.workspace)));
  if (isOpen) return undefined;
  const kept = await vouchedCacheOf(attempt, { folder: 'executions', voucher: 'execution' });
  const keys = new Map<string, Promise<string>>();
  const makeKey = async (tree: string): Promise<string> =>
    canonicalDigest([
      'writ-execution-v1',
      tree,
      await footprintKey(attempt, await verifyingAt(attempt, tree), check),
      [...workspace.dependencies()],
    ]);
  const keyOf = (tree: string): Promise<string> => {
    const key = keys.get(tree) ?? makeKey(tree);
    keys.set(tree, key);
    return key;
  };
  return {
    async find(tree) {
      const text = await kept.find(await keyOf(tree));
      if (text === undefined) return undefined;
      const { executed } = JSON.parse(text) as KeptExecution;
      return executed ? { executed: { ...executed, names: new Set(executed.names) } } : {};
    },
    async keep(tree, { executed }) {
      const answer = executed ? { executed: { ...executed, names: [...executed.names] } } : {};
      // Redaction would change a test name that holds a secret, so such a result is not kept.
      const said = JSON.stringify(answer);
      if (JSON.stringify(redactTexts(answer, policyOf(attempt))) === said)
        await kept.keep(await keyOf(tree), said);
    },
  };
}
