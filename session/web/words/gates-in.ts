import type { Entry } from '../seen.ts';

/** A stage of gates that was settled, as the session told it. */
export interface Gate {
  readonly id: string;
  readonly stage: string;
  readonly status: string;
  readonly words: string;
}

/** The gates of the run that was told last, in their order. */
export function gatesIn(transcript: readonly Entry[]): readonly Gate[] {
  const gates = transcript.flatMap((entry): readonly Gate[] => {
    const { id, kind, title = '', content = '' } = entry;
    const [, stage] = /^Gate (.+)$/.exec(title) ?? [];
    if (kind !== 'info_note' || stage === undefined) return [];
    const [, status = '', words = ''] = /^([a-z]+): (.*)$/s.exec(content) ?? [];
    return [{ id, stage, status: status || 'told', words: words || content }];
  });
  const newest = new Map(gates.map((gate) => [gate.stage, gate]));
  return [...newest.values()];
}
