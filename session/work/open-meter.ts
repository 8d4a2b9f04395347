import type { MeteredReply, ModelMeter } from '../../engine/run/state/model-meter.ts';
import type { Told } from '../state/command.ts';
import type { UsedOnce } from '../state/usage.ts';

/** Counts what a turn asks of models: each reply is told as it ends, and nobody waits for that. */
export function openMeter(tell: (report: Told) => Promise<void>, plan: string | undefined): ModelMeter {
  return {
    begin:
      ({ task }) =>
      (reply) => {
        if (reply === undefined) return;
        tell({
          type: 'used',
          ...toUsed(reply),
          ...(plan === undefined ? {} : { plan }),
          ...(task === undefined ? {} : { task }),
        }).catch(() => undefined);
      },
  };
}

const unitsPerUsd = 1000;

function toUsed({ usage, costUnits, contextTokens }: MeteredReply): UsedOnce {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    ...(costUnits === undefined ? {} : { costUsd: costUnits / unitsPerUsd }),
    ...(contextTokens === undefined ? {} : { contextWindow: contextTokens }),
  };
}
