import type { Snapshot } from '../../state/snapshot.ts';

type Entry = Snapshot['transcript'][number];

/** A stage of gates that was settled, as the session told it. */
export interface Gate {
  readonly id: string;
  readonly stage: string;
  readonly status: string;
  readonly words: string;
}

/** The gates of the run that was told last, in their order. */
export function gatesIn(transcript: readonly Entry[]): readonly Gate[] {
  const gates = transcript.flatMap((entry) => readGate(entry) ?? []);
  const newest = new Map(gates.map((gate) => [gate.stage, gate]));
  return [...newest.values()];
}

/** Reads a gate out of the note that tells it; `undefined` where it tells something else. */
export function readGate({ id, kind, title = '', content = '' }: Entry): Gate | undefined {
  const [, stage] = /^Gate (.+)$/.exec(title) ?? [];
  if (kind !== 'info_note' || stage === undefined) return undefined;
  const [, status = '', words = ''] = /^([a-z]+): (.*)$/s.exec(content) ?? [];
  return { id, stage, status: status || 'told', words: words || content };
}
