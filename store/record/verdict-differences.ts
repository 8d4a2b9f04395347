import { canonicalize } from '../../core/base/canonical.ts';
import type { Verdict, VerdictCheck, VerdictFinding, VerdictStage } from './verdict.ts';

/** What of two verdicts may differ. */
export interface Allowance {
  /**
   * `after` was judged with the word of people for whom `before` waited: what waited, and what came after that, may be
   * anything.
   */
  readonly goesOn?: boolean;
}

const maxTold = 20;

/**
 * How `after` differs from `before`, in words that name stage, check, finding and count; none where it is the same.
 * Pure.
 */
export function verdictDifferences(
  before: Verdict,
  after: Verdict,
  { goesOn = false }: Allowance = {},
): readonly string[] {
  const told: string[] = [];
  if (before.target !== after.target)
    told.push(`the target is \`${after.target}\`, it was \`${before.target}\``);
  told.push(...nameDifferences('author', before.authors, after.authors, false));
  told.push(...findingDifferences('', before.findings, after.findings));
  let isOpen = false;
  for (const earlier of before.stages) {
    const later = after.stages.find(({ stage }) => stage === earlier.stage);
    if (!later) told.push(`stage \`${earlier.stage}\` is gone`);
    else if (isOpen)
      told.push(...valueDifferences(`stage \`${earlier.stage}\``, earlier, later, ['expected']));
    else told.push(...stageDifferences(earlier, later, goesOn));
    isOpen ||= goesOn && earlier.status === 'waiting';
  }
  for (const { stage } of after.stages)
    if (!before.stages.some((one) => one.stage === stage)) told.push(`stage \`${stage}\` is new`);
  const differ = canonicalize(before) !== canonicalize(after);
  // Whatever this file forgets to name is a difference all the same.
  if (told.length === 0 && differ && !goesOn) told.push('the verdict is another');
  return told.length <= maxTold ? told : [...told.slice(0, maxTold), `and ${told.length - maxTold} more`];
}

function stageDifferences(before: VerdictStage, after: VerdictStage, goesOn: boolean): readonly string[] {
  const where = `stage \`${before.stage}\``;
  const open = goesOn && before.status === 'waiting';
  const told: string[] = [];
  if (!open) told.push(...valueDifferences(where, before, after, ['status']));
  told.push(...valueDifferences(where, before, after, ['expected', 'ran']));
  for (const earlier of before.checks) {
    const later = after.checks.find(({ id }) => id === earlier.id);
    const check = `check \`${earlier.id}\` (${before.stage})`;
    if (later) told.push(...checkDifferences(check, earlier, later, open));
    else told.push(`${check} is gone`);
  }
  for (const { id } of after.checks)
    if (!before.checks.some((one) => one.id === id)) told.push(`check \`${id}\` (${before.stage}) is new`);
  told.push(
    ...findingDifferences(`${where}: `, settled(before.findings, open), settled(after.findings, open)),
  );
  return [...told, ...nameDifferences(where, before.artifacts, after.artifacts, open)];
}

function checkDifferences(
  where: string,
  before: VerdictCheck,
  after: VerdictCheck,
  open: boolean,
): readonly string[] {
  const told = [...valueDifferences(where, before, after, ['kind', 'command', 'required'])];
  if (open && before.status === 'waiting') return told;
  told.push(
    ...valueDifferences(where, before, after, ['status', 'exitCode', 'signal', 'timedOut', 'tolerated']),
  );
  for (const count of ['passed', 'failed', 'skipped'] as const)
    if (before.tests?.[count] !== after.tests?.[count])
      told.push(`${where}: ${say(after.tests?.[count])} tests ${count}, were ${say(before.tests?.[count])}`);
  const [named, now] = [before.tests?.failedTests ?? [], after.tests?.failedTests ?? []];
  told.push(...nameDifferences(`${where}: failed test`, named, now, false));
  told.push(...nameDifferences(where, before.artifacts, after.artifacts, false));
  return [...told, ...findingDifferences(`${where}: `, before.findings, after.findings)];
}

function valueDifferences<T extends object>(
  where: string,
  before: T,
  after: T,
  names: readonly (keyof T & string)[],
): readonly string[] {
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${where}: \`${name}\` is ${say(after[name])}, was ${say(before[name])}`);
}

/** What waited for people says something else, or nothing, once they have spoken. */
function settled(findings: readonly VerdictFinding[], open: boolean): readonly VerdictFinding[] {
  return open ? findings.filter(({ waiting }) => !waiting) : findings;
}

function findingDifferences(
  where: string,
  before: readonly VerdictFinding[],
  after: readonly VerdictFinding[],
): readonly string[] {
  const counts = new Map<string, { readonly finding: VerdictFinding; count: number }>();
  for (const [findings, weight] of [
    [before, -1],
    [after, 1],
  ] as const)
    for (const finding of findings) {
      const key = canonicalize(finding);
      const known = counts.get(key) ?? { finding, count: 0 };
      known.count += weight;
      counts.set(key, known);
    }
  return [...counts.values()]
    .filter(({ count }) => count !== 0)
    .map(({ finding: { rule, severity, message, path, line }, count }) => {
      const at = path === undefined ? '' : ` at \`${path}${line === undefined ? '' : `:${line}`}\``;
      return `${where}${count > 0 ? 'new' : 'no longer found'}: ${severity} of \`${rule}\`${at}: ${message.slice(0, 200)}`;
    });
}

function nameDifferences(
  where: string,
  before: readonly string[],
  after: readonly string[],
  open: boolean,
): readonly string[] {
  const gone = before.filter((name) => !after.includes(name)).map((name) => `${where}: \`${name}\` is gone`);
  if (open) return gone;
  return [
    ...gone,
    ...after.filter((name) => !before.includes(name)).map((name) => `${where}: \`${name}\` is new`),
  ];
}

function say(value: unknown): string {
  return value === undefined ? 'none' : `\`${String(value)}\``;
}
