import { lstat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import type { TaskAdvice } from '../../engine/plan/plan-advice.ts';
import type { SessionState } from '../state/state.ts';
import type { PlanStep, SessionPlan } from '../state/work.ts';
import { estimateSteps } from './estimate-steps.ts';

const maxFiles = 200;

/** Estimates what a plan costs, of its contract, the files that its Tasks are to write, and what the thread cost. */
export async function estimatePlan(
  { plans, usage: { turn } }: Pick<SessionState, 'plans' | 'usage'>,
  root: string,
  contractBytes: number,
  { steps, advice }: { readonly steps: readonly PlanStep[]; readonly advice: readonly TaskAdvice[] },
): Promise<Required<Pick<SessionPlan, 'estimates' | 'estimatedFrom'>>> {
  const tasks: { line: string; fileBytes: number }[] = [];
  for (const { key, writes } of advice) {
    const line = steps.find(({ task }) => task === key)?.id;
    if (line !== undefined) tasks.push({ line, fileBytes: await bytesOf(root, writes) });
  }
  const tokens = turn === undefined ? 0 : turn.inputTokens + turn.outputTokens;
  const isPriced = turn?.costUsd !== undefined && turn.unpriced !== true && tokens > 0;
  const earlier = plans.flatMap(({ actuals = [] }) => actuals.map((one) => one.tokens));
  const estimates = estimateSteps({
    tasks,
    contractBytes,
    earlier,
    ...(isPriced ? { usdPerToken: (turn.costUsd ?? 0) / tokens } : {}),
  });
  return { estimates, estimatedFrom: earlier.length };
}

/** Of files that are there; a place outside, a directory and a pattern have no size. */
async function bytesOf(root: string, paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths.slice(0, maxFiles)) {
    if (isAbsolute(path) || normalize(path).startsWith('..')) continue;
    const found = await lstat(join(root, path)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}
