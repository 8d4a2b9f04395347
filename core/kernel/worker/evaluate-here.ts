/* Loads and calls the module of a rule, and evaluates linear rules of small changes in the main thread. */
import { setImmediate } from 'node:timers/promises';
import type { Finding } from '../../interfaces/finding.ts';
import type { Rule, RuleInput, RuleModule } from '../../interfaces/rule.ts';
import { parseFindings } from '../answer.ts';
import { type TaskOutcome, toErrorRecord, toRunnable } from './task.ts';

/** Inputs of at least this size are always evaluated in a thread of the pool. */
export const mainThreadBytes = 64 * 1024;

let last: Promise<void> = Promise.resolve();

/**
 * Evaluates a linear rule in the main thread. Returns `undefined` if the input is too large, the rule is not linear
 * for it, or the pool is closed. Rules run one at a time, and timers and signals are served between them. A rule that
 * comes up after `signal` aborted refuses. Never rejects.
 */
export async function evaluateHere(
  { id, module, linear }: Pick<Rule, 'id' | 'module' | 'linear'>,
  input: RuleInput,
  { closed }: { readonly closed: AbortSignal },
  signal?: AbortSignal,
): Promise<TaskOutcome<readonly Finding[]> | undefined> {
  if (!linear || closed.aborted || bytesIn(input) >= mainThreadBytes) return undefined;
  try {
    const loaded = await loadRuleModule(module.href);
    await ownTurn();
    if (signal?.aborted || closed.aborted)
      return { ok: false, reason: 'aborted', error: { name: 'Error', message: 'the task was aborted' } };
    if (loaded.isLinear?.(input) === false) return undefined;
    return { ok: true, value: await findingsOf(loaded, id, input) };
  } catch (thrown) {
    return { ok: false, reason: 'threw', error: toErrorRecord(thrown) };
  }
}

/** Total bytes of a rule's input: the diff, both sides of files, artifacts, policies. */
export function bytesIn({ patch, files, standing = {}, artifactBytes = {}, policy }: RuleInput): number {
  const contents = [
    patch.diff,
    ...Object.values(files).flatMap(({ base, candidate }) => [base, candidate]),
    ...Object.values(standing),
    ...Object.values(artifactBytes),
    ...(policy?.files ?? []).map(({ bytes }) => bytes),
  ];
  return contents.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
}

/** One at a time, because callbacks of one phase of the event loop run without anything between them. */
function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}

export async function loadRuleModule(module: string): Promise<RuleModule> {
  return import(toRunnable(module));
}

/**
 * Evaluates the rule `id` of a loaded module. Throws if the module exports no `judge`, or if `judge` throws or
 * returns anything but findings of this rule.
 */
export async function findingsOf(
  { judge }: RuleModule,
  id: string,
  input: RuleInput,
): Promise<readonly Finding[]> {
  if (typeof judge !== 'function') throw new TypeError('the module exports no function `judge`');
  const findings = parseFindings(await judge(input));
  const foreign = findings.find((finding) => finding.rule !== id);
  if (foreign) throw new TypeError(`expected findings of rule \`${id}\`, got one of \`${foreign.rule}\``);
  return findings;
}
