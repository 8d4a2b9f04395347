import type { Snapshot } from '../../state/snapshot.ts';
import type { GateResult } from '../../state/work.ts';

/** A stage of gates that was settled, as it is shown. */
export interface Gate {
  readonly stage: string;
  readonly status: string;
  readonly words: string;
  /** Tests and checks that failed. */
  readonly failed: readonly string[];
}

/** The gates of the run that was told last, in their order. */
export function gatesIn({ gates = [] }: Pick<Snapshot, 'gates'>): readonly Gate[] {
  return gates.map(toGate);
}

/** The gate that a note tells; `undefined` where it tells something else. */
export function readGate({ metadata }: Pick<Snapshot['transcript'][number], 'metadata'>): Gate | undefined {
  const { gate } = metadata as { readonly gate?: GateResult };
  return gate && toGate(gate);
}

function toGate({ stage, status, ran, expected, failed = [] }: GateResult): Gate {
  return { stage, status, words: `${ran} of ${expected} ran`, failed };
}
