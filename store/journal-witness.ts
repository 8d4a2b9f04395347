/** How far a journal reached when it was last written here. */
export interface JournalReach {
  /** Records; 0 for a journal that was opened and holds none yet. */
  readonly records: number;
  /** SHA-256 of the last line, without its newline; 64 zeros where there is none. */
  readonly digest: string;
}

/** Knows what this user wrote on this machine. */
export interface Voucher {
  /** Lower-case hex HMAC-SHA-256 over what is vouched for and a line. */
  vouch(line: string): string;
  /** Whether `vouch` answered `mac` for this line; in constant time. */
  vouched(line: string, mac: string): boolean;
}

/**
 * Vouches for the journals that this user wrote on this machine (resolutions, Approvals;
 * `docs/decisions/0009-journal-is-input.md`). What it needs for that stands outside of every repository: whoever can
 * write to a repository can write a journal, but not vouch for one.
 */
export interface JournalWitness {
  /** Opens what is known of the journal of a run; KEY_INSECURE where others could have written it. */
  open(runId: string): Promise<WitnessedJournal>;
  /** What is known of it, for whoever only looks: nothing is made or changed. KEY_INSECURE. */
  look(runId: string): Promise<KnownJournal>;
  /**
   * Whoever vouches for what runs leave to later ones beside their journals: `of` says what, and one's word is none for
   * another. KEY_INSECURE.
   */
  voucher(of: string): Promise<Voucher>;
}

/** What a witness knows of one run's journal. */
export interface KnownJournal extends Voucher {
  /** The furthest that the journal has reached; `undefined` where it was never written here. */
  readonly reached: JournalReach | undefined;
}

/** The same, for its writer. */
export interface WitnessedJournal extends KnownJournal, AsyncDisposable {
  /**
   * Remembers that it reaches so far. A kill of the process loses none of it; a power cut may, and the journal then
   * counts as unknown.
   */
  reach(to: JournalReach): Promise<void>;
  /** Forgets the journal: nothing will go on from it. */
  forget(): Promise<void>;
}
