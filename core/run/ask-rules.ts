import { isWritError } from '../base/errors.ts';
import { compileGlob } from '../base/glob.ts';
import type { Finding } from '../contract/finding.ts';
import type { FileSides, Rule, RuleInput } from '../contract/rule.ts';
import { judgeRule } from '../rules.ts';
import { readBlobs } from '../vcs/blobs.ts';
import type { GitDirectory } from '../vcs/git.ts';
import type { ArtifactBox } from './artifact-box.ts';
import type { WritEngine } from './writ-engine.ts';

/** Most bytes of changed files that one rule is handed; beyond it the rule has refused. */
const maxFileBytes = 256 * 1024 * 1024;

export interface RuleQuestion {
  readonly engine: WritEngine;
  readonly objects: GitDirectory;
  readonly box: ArtifactBox;
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly input: Omit<RuleInput, 'args' | 'files' | 'options'>;
  readonly signal: AbortSignal;
}

/** Asks rules side by side; findings come in the order of the rules. */
export async function askRules(question: RuleQuestion, rules: readonly Rule[]): Promise<readonly Finding[]> {
  const answers = await Promise.all(rules.map((rule) => askRule(question, rule, [])));
  return answers.flat();
}

/** Gives one rule what it declared to read, and asks it in the pool. Never throws for the rule's sake. */
export async function askRule(
  question: RuleQuestion,
  rule: Rule,
  args: readonly string[],
): Promise<readonly Finding[]> {
  const { engine, input, ruleOptions, signal } = question;
  try {
    const files = await readFiles(question, rule);
    const artifactBytes = rule.readsArtifacts ? await readArtifacts(question) : undefined;
    const options = ruleOptions[rule.id] ?? {};
    const whole: RuleInput = { ...input, args, files, options, ...(artifactBytes ? { artifactBytes } : {}) };
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

async function readFiles(
  { objects, input: { patch } }: RuleQuestion,
  rule: Rule,
): Promise<Record<string, FileSides>> {
  const globs = (rule.reads ?? []).map((pattern) => compileGlob(pattern));
  const wanted = patch.files.filter((file) =>
    globs.some(
      (glob) => glob.matches(file.path) || (file.oldPath !== undefined && glob.matches(file.oldPath)),
    ),
  );
  if (wanted.length === 0) return {};
  const [base, candidate] = await Promise.all([
    readBlobs(
      objects,
      patch.baseTree,
      wanted.map((file) => file.oldPath ?? file.path),
      maxFileBytes,
    ),
    readBlobs(
      objects,
      patch.candidateTree,
      wanted.map((file) => file.path),
      maxFileBytes,
    ),
  ]);
  return Object.fromEntries(
    wanted.map((file) => [file.path, toSides(base.get(file.oldPath ?? file.path), candidate.get(file.path))]),
  );
}

function toSides(base: Buffer | undefined, candidate: Buffer | undefined): FileSides {
  return { ...(base ? { base } : {}), ...(candidate ? { candidate } : {}) };
}

async function readArtifacts({ box, input }: RuleQuestion): Promise<Record<string, Uint8Array>> {
  const entries: [string, Uint8Array][] = [];
  for (const record of input.artifacts) entries.push([record.sha256, await box.read(record)]);
  return Object.fromEntries(entries);
}
