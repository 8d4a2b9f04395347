/** Where a kill hits. `second`: while another instance starts; `stopping`: after a SIGTERM. */
export type KillKind = 'writing' | 'paging' | 'sweeping' | 'starting' | 'stopping' | 'second';

/** What happens in one round. */
export interface KillChoice {
  readonly kind: KillKind;
  /** Two instances are started at once; one of them must win. */
  readonly race: boolean;
  readonly writers: number;
  /** The kill comes after so many answers, and then so many milliseconds. */
  readonly answers: number;
  readonly thenMs: number;
  /** As a part of what a start takes: for a kill that hits one. */
  readonly ofStart: number;
  /** Before the next start we look into the database ourselves; otherwise that start is the first to open it. */
  readonly looksItself: boolean;
  /** Lays down what a kill within a write of a small file leaves: such a moment is too short to be hit. */
  readonly plants: boolean;
}

const kinds: readonly KillKind[] = ['writing', 'paging', 'starting', 'sweeping', 'second', 'stopping'];

/** Each kind in turn, all else by chance. */
export function chooseKill(random: () => number, round: number): KillChoice {
  const kind = kinds[round % kinds.length] ?? 'writing';
  return {
    kind,
    race: kind === 'sweeping' || random() < 0.2,
    writers: 2 + Math.floor(random() * 5),
    answers: Math.floor(random() * (kind === 'paging' || kind === 'sweeping' ? 4 : 25)),
    thenMs: kind === 'stopping' ? random() * 80 : random() * random() * 8,
    ofStart: 0.2 + random(),
    looksItself: random() < 0.5,
    plants: random() < 0.3,
  };
}
