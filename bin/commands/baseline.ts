/* The `writ baseline` command: findings that exist, in a file that counts once it is committed. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { writeDurably } from '../../core/base/files.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { evaluateRule } from '../../core/kernel/rules.ts';
import { findInArtifact } from '../../engine/evaluate/known-findings.ts';
import { cutDiff } from '../../gates/scan/cut-diff.ts';
import { emptyPatch, scanPieces } from '../../gates/scan/scan-pieces.ts';
import {
  baselinePath,
  countKeys,
  formatBaseline,
  identify,
  type KnownFinding,
  keyOf,
  parseBaseline,
} from '../../readers/documents/baseline.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { scanSpec } from '../../spec/secret-words.ts';
import { isIgnoredPath } from '../../workspace/git/dirty-paths.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { emptyTreeOf, openRepository, type Repository } from '../../workspace/git/repository.ts';
import { resolveBase } from '../../workspace/git/resolve-commit.ts';
import { plainDiffFlags } from '../../workspace/patch/normalise.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { gitOutput, readOptionsAt } from '../command-parts/scan-sources.ts';
import { outputFailed } from '../command-parts/write-output.ts';

/** `writ baseline`: writes the errors that HEAD has, in place of an earlier baseline. BASELINE_INVALID: too many. */
export async function baselineCommand(context: CommandContext): Promise<CommandResult> {
  const { print } = context;
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const { tree } = await resolveBase(repository, 'HEAD');
  await using engine = await openEngine(context);
  const { known, left, notes } = await findKnown(context, engine, repository, tree);
  context.progress.clear();
  const text = formatBaseline(known);
  // One that is too large would refuse every change.
  parseBaseline(Buffer.from(text));
  const path = join(repository.root, baselinePath);
  try {
    await mkdir(join(repository.root, '.writ'), { recursive: true });
    await writeDurably(path, text, 0o644);
  } catch (fault) {
    throw outputFailed(baselinePath, fault);
  }
  for (const note of notes) print.note(note);
  if (left > 0) print.note(`${left} errors are of a kind that no baseline names: \`writ scan .\` lists them`);
  const isIgnored = await isIgnoredPath(repository, baselinePath);
  const total = known.reduce((sum, { count }) => sum + count, 0);
  const rules = Map.groupBy(known, ({ rule }) => rule);
  const data = {
    path,
    findings: total,
    rules: [...rules].map(([id, those]) => ({
      id,
      findings: those.reduce((sum, { count }) => sum + count, 0),
    })),
  };
  return succeeded(data, (printer) => {
    printer.line(`wrote ${baselinePath}: ${total} ${total === 1 ? 'finding' : 'findings'}`);
    for (const { id, findings } of data.rules) printer.line(`  ${id}  ${findings}`);
    if (printer.quiet) return;
    printer.line(
      `  it counts once it is committed: \`git add ${isIgnored ? '--force ' : ''}${baselinePath}\``,
    );
  });
}

/** Findings of a tree, and how many errors a baseline cannot name. */
interface Found {
  readonly known: readonly KnownFinding[];
  readonly left: number;
  readonly notes: readonly string[];
}

async function findKnown(
  context: CommandContext,
  engine: WritEngine,
  repository: Repository,
  tree: string,
): Promise<Found> {
  const { rules: ruleOptions } = await readOptionsAt(repository, tree, engine.rules);
  const rules = engine.rules.ids
    .flatMap((id) => engine.rules.get(id) ?? [])
    .filter(({ baseline }) => baseline);
  const ofLines = rules.filter(({ baseline }) => baseline?.isOfLines === true);
  const { findings } = await scanPieces(
    cutDiff(wholeTree(context, repository, tree), { onUnscanned: () => {} }),
    {
      spec: scanSpec(),
      rules: ofLines,
      ruleOptions,
      pool: engine.pool,
      signal: context.signal,
      onPiece: ({ files }) => context.progress.update(`${files} files`),
    },
  );
  const all: Finding[] = [...findings];
  const notes: string[] = [];
  for (const rule of rules.filter((one) => !ofLines.includes(one))) {
    const options = ruleOptions[rule.id] ?? {};
    const input = {
      spec: scanSpec(),
      patch: { ...emptyPatch, candidateTree: tree },
      scope: wholeScope,
      args: [],
      files: {},
      artifacts: [],
      options,
    };
    const question = {
      engine,
      objects: repository,
      rule,
      ruleOptions,
      input,
      evaluate: (other: object) => evaluateRule(rule, { ...input, ...other }, engine.pool, context.signal),
    };
    const { findings: more, unmade } = await findInArtifact(question, tree).catch(withoutAdvisories);
    all.push(...more);
    if (unmade !== undefined) notes.push(`rule \`${rule.id}\` was not evaluated: ${unmade}`);
  }
  return { ...(await toKnown(repository, tree, rules, all)), notes };
}

const wholeScope = { write: [], forbidden: [], wholeRepository: true };

function withoutAdvisories(fault: unknown): {
  readonly findings: readonly Finding[];
  readonly unmade: string;
} {
  if (!isWritError(fault, 'ADVISORIES_MISSING')) throw fault;
  return { findings: [], unmade: [fault.message, ...fault.hints].join('; ') };
}

/** All files of a tree as additions. */
function wholeTree(
  { signal }: CommandContext,
  repository: Repository,
  tree: string,
): AsyncGenerator<Uint8Array> {
  const diff = ['diff-tree', '-r', '-p', ...plainDiffFlags, '--no-renames'];
  return gitOutput(repository, [...diff, emptyTreeOf(repository), tree], signal);
}

async function toKnown(
  repository: Repository,
  tree: string,
  rules: readonly Rule[],
  findings: readonly Finding[],
): Promise<Omit<Found, 'notes'>> {
  const texts = await readBlobs(
    repository,
    tree,
    findings.flatMap(({ path }) => path ?? []),
  );
  const textAt = (path: string): string | undefined => texts.get(path)?.toString('latin1');
  const errors = findings.filter(({ severity }) => severity === 'error');
  const identities = errors.flatMap((finding) => {
    const rule = rules.find(({ id }) => id === finding.rule);
    return (rule && identify(rule, finding, textAt)) ?? [];
  });
  const counts = countKeys(identities);
  const known = new Map(
    identities.map((one) => [keyOf(one), { ...one, count: counts.get(keyOf(one)) ?? 0 }]),
  );
  const sorted = [...known].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, finding]) => finding);
  return { known: sorted, left: errors.length - identities.length };
}
