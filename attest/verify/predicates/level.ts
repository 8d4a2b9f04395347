/**
 * A level that SLSA defines: its track, and how high it stands there; `rank` is absent for what is no rung of a ladder.
 */
export interface SlsaLevel {
  readonly track: string;
  readonly rank?: number;
}

/** Highest level of each track (SLSA 1.2). */
const tracks: Readonly<Record<string, number>> = { BUILD: 3, SOURCE: 4 };

/** What SLSA means by a name; `undefined` for names of others and for those that it never gave. */
export function levelOf(name: string): SlsaLevel | undefined {
  if (name === 'SLSA_SOURCE_TWO_PARTY_REVIEWED') return { track: name };
  const [, track = '', rung = ''] = /^SLSA_([A-Z]+)_LEVEL_(\d|UNEVALUATED)$/.exec(name) ?? [];
  const highest = Object.hasOwn(tracks, track) ? tracks[track] : undefined;
  if (highest === undefined) return undefined;
  if (rung === 'UNEVALUATED') return { track };
  return Number(rung) <= highest ? { track, rank: Number(rung) } : undefined;
}

/**
 * True for what is no level, and nearly the name of one: SLSA keeps names that begin with `SLSA_` to itself, and a
 * reader that does not mind case, or hyphens, would take `slsa_build_level_3` for its own.
 */
export function isMistakenLevel(name: string): boolean {
  if (name === 'FAILED' || levelOf(name) !== undefined) return false;
  const folded = name.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return (
    name.startsWith('SLSA_') ||
    /^SLSA(?:BUILD|SOURCE|DEPENDENCY|DEPENDENCIES)/.test(folded) ||
    folded === 'FAILED'
  );
}

/** True where one of the claimed levels is the one that is asked for, or a higher one of its track. */
export function hasLevel(claimed: readonly string[], asked: string): boolean {
  if (claimed.includes(asked)) return true;
  const { track, rank } = levelOf(asked) ?? {};
  return (
    rank !== undefined &&
    claimed.some((one) => {
      const level = levelOf(one);
      return level?.track === track && level?.rank !== undefined && level.rank >= rank;
    })
  );
}
