/* Turns findings that the baseline at the policy commit names into notes. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import {
  baselinePath,
  countKeys,
  coverKnown,
  identify,
  type KnownFinding,
  keyOf,
  parseBaseline,
} from '../../readers/documents/baseline.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlob, readBlobs } from '../../workspace/git/read-objects.ts';
import { emptyTreeOf } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { type TreeLeaf, writeTree } from '../../workspace/git/write-tree.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { readRuleFiles } from './read-reports.ts';

/** Evaluates the rule again with other members of its input; another patch is evaluated alone, without a stage. */
type Evaluate = (input: Partial<RuleInput>) => Promise<readonly Finding[]>;

interface KnownQuestion {
  readonly engine: Pick<WritEngine, 'slots'>;
  readonly objects: Scratch;
  readonly rule: Rule;
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly input: Pick<RuleInput, 'patch' | 'spec'>;
  /** Tree of the policy commit. */
  readonly policyTree: string;
  readonly evaluate: Evaluate;
}

/**
 * Returns the findings of a rule, with those that the baseline names as notes. A finding is one of them only if the
 * base has it too. Of equal ones in a file, as many are known as baseline and base have; another one is new.
 */
export async function noteKnown(
  question: KnownQuestion,
  findings: readonly Finding[],
): Promise<readonly Finding[]> {
  const { objects, rule, policyTree, input } = question;
  const nowhere = (): string => '';
  const isError = ({ severity }: Finding): boolean => severity === 'error';
  if (rule.baseline === undefined || !findings.some(isError)) return findings;
  const bytes = await readBlob(objects, policyTree, baselinePath);
  if (bytes === undefined) return findings;
  let known: readonly KnownFinding[];
  try {
    known = parseBaseline(bytes).filter((one) => one.rule === rule.id);
  } catch (fault) {
    if (!isWritError(fault, 'BASELINE_INVALID')) throw fault;
    const message = `\`${baselinePath}\` at the policy commit is not valid: ${fault.message}`;
    return [...findings, { rule: rule.id, severity: 'error', message }];
  }
  const reported = new Set(findings.filter(isError).flatMap(({ path }) => path ?? []));
  const paths = [...new Set(known.map(({ path }) => path).filter((path) => reported.has(path)))];
  if (paths.length === 0) return findings;
  if (rule.baseline.isOfLines !== true) {
    const identityOf = (finding: Finding) => identify(rule, finding, nowhere);
    const { findings: atBase } = await findInArtifact(question, input.patch.baseTree);
    const base = countKeys(atBase.map(identityOf));
    return coverKnown(findings, identityOf, roomOf(known, base, new Map()));
  }
  const base = await findInFiles(question, input.patch.baseTree, paths);
  const candidate = await findInFiles(question, input.patch.candidateTree, paths);
  // What is not evaluated to its end may have more of them.
  if (!candidate.isComplete) return findings;
  const identityOf = (finding: Finding) => identify(rule, finding, candidate.textAt);
  const shown = countKeys(findings.map(identityOf));
  // Those in lines that the change leaves alone are not reported, and count.
  const unchanged = new Map(
    [...candidate.counts].map(([key, count]) => [key, Math.max(0, count - (shown.get(key) ?? 0))]),
  );
  return coverKnown(findings, identityOf, roomOf(known, base.counts, unchanged));
}

type Counts = ReadonlyMap<string, number>;

function roomOf(known: readonly KnownFinding[], base: Counts, taken: Counts): Counts {
  return new Map(
    known.map((one) => {
      const key = keyOf(one);
      return [key, Math.min(one.count, base.get(key) ?? 0) - (taken.get(key) ?? 0)];
    }),
  );
}

/** What the rule finds in these files of a tree, as if a change added them. */
async function findInFiles(
  { objects, rule, evaluate }: KnownQuestion,
  tree: string,
  paths: readonly string[],
) {
  const wanted = new Set(paths);
  const leaves = new Map<string, TreeLeaf>();
  for (const { path, mode, object } of await listTree(objects, tree))
    if (wanted.has(path)) leaves.set(path, { mode, object });
  const texts = new Map<string, string>();
  for (const [path, bytes] of await readBlobs(objects, tree, leaves.keys()))
    texts.set(path, bytes.toString('latin1'));
  const textAt = (path: string): string | undefined => texts.get(path);
  const found = leaves.size === 0 ? [] : await evaluate(await asAdded(objects, rule, leaves));
  const identities = found.map((finding) => identify(rule, finding, textAt));
  const isComplete = found.every(({ severity }, at) => severity !== 'error' || identities[at] !== undefined);
  return { counts: countKeys(identities), textAt, isComplete };
}

/** The input of a rule for a change that adds these files. */
async function asAdded(
  objects: Scratch,
  rule: Rule,
  leaves: ReadonlyMap<string, TreeLeaf>,
): Promise<Partial<RuleInput>> {
  const tree = await writeTree({ from: objects, to: objects }, leaves, undefined);
  const patch = await normalisePatch(objects, { commit: undefined, tree: emptyTreeOf(objects) }, tree);
  const files = await readRuleFiles(objects, patch, rule);
  return { patch, files, artifacts: [] };
}

/** What a rule finds in the artifact that the engine makes of a tree; nothing if it cannot be made. */
export async function findInArtifact(
  {
    engine,
    objects,
    rule,
    ruleOptions,
    input: { patch, spec },
    evaluate,
  }: Omit<KnownQuestion, 'objects' | 'policyTree'> & { readonly objects: GitDirectory },
  tree: string,
): Promise<{ readonly findings: readonly Finding[]; readonly unmade?: string }> {
  const name = rule.judgesArtifact ?? '';
  if (!engine.slots.artifact.names.includes(name)) return { findings: [] };
  const producer = await engine.slots.artifact.pick(name);
  const made = await producer.produce({
    name,
    spec,
    patch,
    stages: [],
    readCandidate: (path) => readBlob(objects, tree, path),
    listCandidate: async () => (await listTree(objects, tree)).map(({ path }) => path),
    baseTimeMs: 0,
    ruleOptions,
    judge: async () => [],
    engineVersion: '',
  });
  if (made === undefined) return { findings: [] };
  if ('unmade' in made) return { findings: [], unmade: made.unmade };
  const bytes = made instanceof Uint8Array ? made : made.bytes;
  const sha256 = sha256Hex(bytes);
  const record = { name, stage: '', path: name, sha256, sizeBytes: bytes.length, contentType: '' };
  return { findings: await evaluate({ artifacts: [record], artifactBytes: { [sha256]: bytes } }) };
}
