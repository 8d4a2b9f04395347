import { isWritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { JudgeReach } from '../../core/interfaces/judge-reach.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Rule, RuleInput } from '../../core/interfaces/rule.ts';
import { judgeRule } from '../../core/kernel/rules.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import type { PrepareStep } from '../config/config.ts';
import type { ArtifactBox } from '../state/evidence.ts';
import { joinReach } from './reach/join-reach.ts';
import { readRuleFiles } from './read-rule-files.ts';
import { findJudge } from './second-run/find-judge.ts';

export interface RuleQuestion {
  readonly engine: WritEngine;
  readonly objects: GitDirectory;
  readonly box: ArtifactBox;
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly input: Omit<RuleInput, 'args' | 'files' | 'options' | 'standing'>;
  /** Tree of the policy commit, where it is not the base. */
  readonly policyTree?: string;
  /** Paths that the patch fills, as checks were observed to look for them. */
  readonly filled?: Readonly<Record<string, string>>;
  /** Steps that make what checks are given, and what they were seen to judge by. */
  readonly prepare: readonly PrepareStep[];
  readonly prepared?: readonly string[];
  readonly signal: AbortSignal;
}

/** Evaluates rules concurrently; findings keep the order of the rules. */
export async function askRules(question: RuleQuestion, rules: readonly Rule[]): Promise<readonly Finding[]> {
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
    return await judgeRule(rule, whole, engine.pool, signal);
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
  policyTree,
  input,
  filled = {},
  prepare,
  prepared,
}: RuleQuestion): Promise<JudgeReach> {
  const { patch, spec } = input;
  const read = await findJudge(objects, patch.baseTree, spec, prepare, prepared);
  const base = { ...read, absent: { ...filled, ...read.absent } };
  return policyTree === undefined
    ? base
    : joinReach(await findJudge(objects, policyTree, spec, prepare, prepared), base);
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
