/* Evaluates the rules of an attempt and converts their faults to findings. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { JudgeReach, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { evaluateRule } from '../../core/kernel/rules.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { type Waiver, waiveFindings } from '../config/waivers.ts';
import type { PrepareStep } from '../config/workspace-section.ts';
import type { CommitWording, WordingPart } from '../state/commit-wording.ts';
import type { ArtifactCollector } from '../state/evidence.ts';
import type { Attempt } from '../state/open-run.ts';
import type { OpenPolicies } from '../state/policies.ts';
import { noteKnown } from './known-findings.ts';
import { readRuleFiles } from './read-reports.ts';
import { findVerificationInputs, joinReach } from './second-run/verification-inputs.ts';

interface RuleQuestion {
  readonly engine: WritEngine;
  readonly objects: Scratch;
  /** Path of the user's working tree. */
  readonly root: string;
  readonly box: ArtifactCollector;
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly input: Omit<RuleInput, 'args' | 'files' | 'options' | 'standing'>;
  /** Tree of the policy commit, where it is not the base. */
  readonly policyTree?: string;
  /** Paths that the patch fills, as checks were observed to look for them. */
  readonly filled?: Readonly<Record<string, string>>;
  /**
   * `prepare`: steps that create inputs of checks. `prepared`: verification inputs that these steps were observed to
   * use.
   */
  readonly prepare: readonly PrepareStep[];
  readonly prepared?: readonly string[];
  readonly waivers: readonly Waiver[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Evaluates rules concurrently; findings keep the order of the rules. */
export async function evaluateRules(
  question: RuleQuestion,
  rules: readonly Rule[],
): Promise<readonly Finding[]> {
  const answers = await Promise.all(rules.map((rule) => askRule(question, rule, [])));
  return answers.flat();
}

/**
 * Reads the files that a rule declares, and evaluates the rule in the worker pool. Faults of the rule become
 * findings; they never throw.
 */
export async function askRule(
  question: RuleQuestion,
  rule: Rule,
  args: readonly string[],
): Promise<readonly Finding[]> {
  const { engine, input, ruleOptions, signal } = question;
  try {
    const files = await readRuleFiles(question.objects, input.patch, rule);
    const artifactBytes = rule.readsArtifacts ? await readArtifacts(question) : undefined;
    const judge = rule.readsJudge ? await judgeOf(question) : undefined;
    const standing =
      rule.readsStanding && question.policyTree !== undefined
        ? await readStanding(question.objects, input.patch, question.policyTree)
        : undefined;
    const options = ruleOptions[rule.id] ?? {};
    const whole: RuleInput = {
      ...input,
      args,
      files,
      options,
      ...(artifactBytes ? { artifactBytes } : {}),
      ...(judge ? { judge } : {}),
      ...(standing ? { standing } : {}),
    };
    const found = await evaluateRule(rule, whole, engine.pool, signal);
    const findings = await noteKnown(
      {
        engine,
        objects: question.objects,
        rule,
        ruleOptions,
        input,
        policyTree: question.policyTree ?? input.patch.baseTree,
        evaluate: (other) => {
          // Without a stage only the change is evaluated.
          const { stage, ...change } = whole;
          const given = other.patch ? change : whole;
          return evaluateRule(rule, { ...given, ...other }, engine.pool, signal);
        },
      },
      found,
    );
    return waiveFindings(findings, question.waivers, question.clock.now(), input.patch.files);
  } catch (fault) {
    if (!isWritError(fault, 'INPUT_TOO_LARGE')) throw fault;
    return [
      {
        rule: rule.id,
        severity: 'error',
        message: `the files that this rule reads are too large: ${fault.message}`,
      },
    ];
  }
}

async function judgeOf({
  objects,
  root,
  policyTree,
  input,
  filled = {},
  prepare,
  prepared,
}: RuleQuestion): Promise<JudgeReach> {
  const { patch, spec } = input;
  const read = await findVerificationInputs(objects, root, patch.baseTree, spec, prepare, prepared);
  const base = { ...read, absent: { ...filled, ...read.absent } };
  return policyTree === undefined
    ? base
    : joinReach(await findVerificationInputs(objects, root, policyTree, spec, prepare, prepared), base);
}

async function readArtifacts({ box, input }: RuleQuestion): Promise<Record<string, Uint8Array>> {
  const entries: [string, Uint8Array][] = [];
  for (const record of input.artifacts) entries.push([record.sha256, await box.read(record)]);
  return Object.fromEntries(entries);
}

/** What every inline suppression of ours begins with. */
const marker = 'writ:allow-';
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns, by path at base, the policy commit's version of changed files with an inline suppression in their part of
 * the diff. A suppression counts only if it is at the policy commit. Throws INPUT_TOO_LARGE.
 */
async function readStanding(
  objects: GitDirectory,
  { diff, files }: Pick<PatchSet, 'diff' | 'files'>,
  policyTree: string,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const paths: string[] = [];
  let found = bytes.indexOf(marker);
  for (const { path, oldPath, start, end } of files) {
    if (found === -1) break;
    if (found >= end) continue;
    if (found < start) found = bytes.indexOf(marker, start);
    if (found === -1 || found >= end) continue;
    paths.push(oldPath ?? path);
    found = bytes.indexOf(marker, end);
  }
  return Object.fromEntries(await readBlobs(objects, policyTree, paths, maxBytes));
}

/** Builds the input that every rule of an attempt receives; `input` sets the point. */
export function ruleQuestion(attempt: Attempt, input: RuleQuestion['input']): RuleQuestion {
  const {
    services: { engine, scratch, settings, signal },
    box,
    environment,
    approvals,
    rehearsal,
  } = attempt;
  const asked = {
    ...input,
    unmade: box.unmade(),
    approvals,
    approvalGroups: environment.config.approvals.groups,
    ...(rehearsal ? { rehearsal } : {}),
  };
  const { base, policy } = environment;
  return {
    engine,
    objects: scratch,
    root: environment.repository.root,
    box,
    ruleOptions: environment.config.rules,
    input: asked,
    ...(policy.tree === base.tree ? {} : { policyTree: policy.tree }),
    ...(attempt.observed ? { filled: attempt.observed.filled } : {}),
    ...(attempt.observed?.prepared ? { prepared: attempt.observed.prepared } : {}),
    prepare: environment.config.workspace.prepare,
    waivers: environment.waivers,
    clock: settings.clock,
    signal,
  };
}

/**
 * Evaluates one policy of a policy engine in the worker pool: `cedar release`. Returns `undefined` if no engine has
 * that name. Refuses if the policy is not configured for this engine or no policy is named, because no rule would be
 * evaluated.
 */
export async function evaluatePolicy(
  { engine, input, signal }: RuleQuestion,
  policies: OpenPolicies,
  engineName: string,
  args: readonly string[],
): Promise<readonly Finding[] | undefined> {
  if (!policies.engineNames.includes(engineName)) return undefined;
  const known = [...policies.byName.values()].filter((policy) => policy.engine === engineName);
  const [name = '', ...more] = args;
  const policy = known.find((one) => one.name === name);
  const policyEngine = policies.engines.get(engineName);
  if (!policy || !policyEngine || more.length > 0) {
    const names = known.map((one) => one.name);
    const meant = nearestName(name, names);
    const listed = names.length === 0 ? 'none is configured' : names.map((one) => `\`${one}\``).join(', ');
    return [
      {
        rule: engineName,
        severity: 'error',
        message: `expected \`${engineName}\` and the name of one policy (${listed})${meant === undefined ? '' : `, did you mean \`${meant}\`?`}`,
        detail: { code: 'POLICY_UNKNOWN', engine: engineName, given: args, known: names },
      },
    ];
  }
  const { module, timeoutSeconds } = policyEngine;
  const rule = {
    id: engineName,
    point: 'patch',
    module,
    ...(timeoutSeconds ? { timeoutSeconds } : {}),
  } as const;
  const { files } = policy;
  return evaluateRule(
    rule,
    { ...input, args: [], files: {}, options: {}, policy: { name, files } },
    engine.pool,
    signal,
  );
}

/** Whether the repository demands this check of every change (`[[checks.always]]` at the policy commit). */
export function isMandatory(
  { identity: { contract } }: Pick<Attempt, 'identity'>,
  { id }: Pick<EffectiveCheck, 'id'>,
): boolean {
  return contract.mandatory.includes(id);
}

const parts: Readonly<Record<WordingPart, readonly [what: string, wayOut: string]>> = {
  message: ['the message', 'reword the commit, or give another message: `--message TEXT`'],
  author: ['the author', 'name the author: `--author "NAME <MAIL>"`'],
  people: ['the name of an author, co-author or committer', 'correct it in the commits, or in the mail'],
  summary: ['the summary of the spec', 'write another spec'],
};

/**
 * Returns findings of rule `secrets` for texts that held a secret on arrival and are stored masked, because a sealed
 * commit cannot be withdrawn. Pure.
 */
export function wordingFindings({ refused = [] }: Pick<CommitWording, 'refused'>): readonly Finding[] {
  return refused.map((part) => {
    const [what, wayOut] = parts[part];
    return {
      rule: 'secrets',
      severity: 'error',
      message: `${what} of the commit that would be sealed holds what looks like a secret: ${wayOut}`,
      detail: { wording: part },
    };
  });
}
