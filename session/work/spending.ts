import { WritError } from '../../core/base/errors.ts';
import type { MeteredQuestion, MeteredReply, ModelMeter } from '../../engine/state/open-model.ts';
import { limitOf } from '../state/change-budget.ts';
import type { Told } from '../state/command.ts';
import type { SessionState } from '../state/state.ts';
import { budgetUnpriced, type UsedOnce } from '../state/usage.ts';

/** What a session spends, over all turns of this process. */
export interface Spending {
  /**
   * Counts what a turn asks of models, for one plan or for none: each reply is told as it ends, and nobody waits for
   * that. A question that would take the session over its limit is SESSION_BUDGET_SPENT, one whose price nobody knows
   * SESSION_BUDGET_UNPRICED where there is a limit.
   */
  meter(turn: MeteredTurn, plan?: string): ModelMeter;
  /** Calls of models that were begun so far, also those that failed. */
  calls(): number;
}

export interface MeteredTurn {
  readonly state: () => SessionState;
  readonly tell: (report: Told) => Promise<void>;
}

const unitsPerUsd = 1000;

/** `named`: told what each question is called, of whatever turn. */
export function openSpending(named?: ModelMeter['named']): Spending {
  /** USD that the state does not know of yet: of questions under way, and of replies on their way to the disk. */
  let untold = 0;
  let calls = 0;
  return {
    calls: () => calls,
    meter: ({ state, tell }, plan) => ({
      ...(named === undefined ? {} : { named }),
      begin(question) {
        requireWithin(state(), question, untold);
        calls += 1;
        const expected = (question.costUnits ?? 0) / unitsPerUsd;
        untold += expected;
        return (reply) => {
          untold -= expected;
          if (reply === undefined) return;
          const used = toUsed(reply);
          const { costUsd = 0 } = used;
          untold += costUsd;
          const of = {
            ...(plan === undefined ? {} : { plan }),
            ...(question.task === undefined ? {} : { task: question.task }),
          };
          tell({ type: 'used', ...used, ...of }).then(
            () => {
              untold -= costUsd;
            },
            // What could not be written down was paid all the same.
            () => undefined,
          );
        };
      },
    }),
  };
}

function requireWithin(state: SessionState, { model, costUnits }: MeteredQuestion, untold: number): void {
  const limitUsd = limitOf(state);
  if (limitUsd === undefined) return;
  if (costUnits === undefined) throw budgetUnpriced(model, limitUsd);
  const spentUsd = (state.usage.costUsd ?? 0) + untold;
  const nextUsd = costUnits / unitsPerUsd;
  if (spentUsd + nextUsd <= limitUsd) return;
  const [spent, next] = [spentUsd, nextUsd].map((usd) => usd.toFixed(4));
  throw new WritError('SESSION_BUDGET_SPENT', {
    message: `the session has cost ${spent} of ${limitUsd} USD, and the next question alone would cost ${next}`,
    detail: { spent_usd: spentUsd, limit_usd: limitUsd, next_usd: nextUsd, model },
  });
}

function toUsed({ usage, costUnits, contextTokens }: MeteredReply): UsedOnce {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    ...(costUnits === undefined ? {} : { costUsd: costUnits / unitsPerUsd }),
    ...(contextTokens === undefined ? {} : { contextWindow: contextTokens }),
  };
}
