/** What the objects of a tree are, by their bytes. */
export interface HashedTree {
  readonly trees: number;
  readonly files: number;
  readonly bytes: number;
  /** Objects that should be here and are not; the first twenty. */
  readonly absent: readonly string[];
  /** How many a partial clone left behind: git hashes them when it fetches them. */
  readonly promised: number;
  /** The first twenty whose bytes are not those that their id names, each in a few words. */
  readonly wrong: readonly string[];
  /** More distinct objects than are looked at, or a tree too large to be read: nothing is said of the rest. */
  readonly isCut: boolean;
  /**
   * Object directories of others that the repository borrows from: what they hold may be changed by whoever keeps them.
   */
  readonly borrowed: readonly string[];
}
