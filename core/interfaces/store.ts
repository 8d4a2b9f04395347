/** One file of a stored tree. */
export interface StoreEntry {
  readonly path: string;
  /** Content address in the store's own terms (git: blob id). */
  readonly object: string;
  readonly sizeBytes: number;
}

export interface WriteTree {
  /** Description of the write in one line. */
  readonly message: string;
  /** Path and content, each path once; read once, in order, so it may be a generator. */
  readonly files:
    | Iterable<readonly [path: string, bytes: Uint8Array]>
    | AsyncIterable<readonly [path: string, bytes: Uint8Array]>;
  /** True: stored files of the ref stay; false: only the new files remain. */
  readonly keepExisting: boolean;
  /** The version that must be current; `null` for none yet. Absent: the version that is current when writing starts. */
  readonly expectedOld?: string | null;
  /** Recorded write time, epoch milliseconds; default now. The same write at the same time gives the same version. */
  readonly atMs?: number;
  /** Commits of the repository that must live as long as this version. A store without commits ignores them. */
  readonly anchors?: readonly string[];
  /** What an ArtifactRef says of a path, for a store that keeps content elsewhere. */
  readonly about?: (
    path: string,
  ) => { readonly contentType?: string; readonly expiresAt?: string } | undefined;
}

export type RefWrite = readonly [ref: string, write: WriteTree];

/**
 * Storage for a run's objects (slot `store`), by ref and path. A version is immutable. A write is atomic, and durable
 * when it resolves. A failed write throws EVIDENCE_WRITE_FAILED and leaves the ref unchanged.
 */
export interface ObjectStore {
  /** Returns the id of the new version. */
  writeTree(ref: string, write: WriteTree): Promise<string>;
  /** Several repeatable writes (`atMs`) as one; the last ref moves last. Absent: the caller makes them one by one. */
  writeTrees?(writes: readonly RefWrite[]): Promise<void>;
  /** The current version of a ref; `undefined` if it does not exist. */
  version(ref: string): Promise<string | undefined>;
  /** `undefined` if the ref or the path does not exist. */
  read(ref: string, path: string): Promise<Buffer | undefined>;
  /** As `read`, for many paths; missing paths are omitted. */
  readMany(ref: string, paths: Iterable<string>): Promise<ReadonlyMap<string, Buffer>>;
  /** Every path under a ref, sorted; empty if the ref does not exist. */
  list(ref: string): Promise<readonly StoreEntry[]>;
  /** Refs under a prefix with their current version, sorted by name. */
  refs(prefix: string): Promise<readonly { readonly ref: string; readonly version: string }[]>;
  /** Removes a ref; the store's clean-up removes its content. A missing ref is ignored. */
  remove(ref: string): Promise<void>;
  /** Present if refs only refer to artifact content. */
  readonly content?: OutsideContent;
}

/** Artifact content outside of the refs. */
export interface OutsideContent {
  /** Throws if nothing could be stored; `tries`: STORE_UNCONDITIONAL unless exactly one of two writers wins. */
  ready(tries?: boolean): Promise<void>;
  /** Deletes what only `paths` (absent: all) of a ref need; answers its size. `undefined`: the ref holds it itself. */
  expire(ref: string, paths: readonly string[] | undefined, dryRun: boolean): Promise<number | undefined>;
  /** Compares presence and size; `reads`: digests too. */
  audit(ref: string, reads: boolean): Promise<readonly ContentProblem[]>;
}

export type ContentProblem = { readonly path: string; readonly isThere: boolean; readonly what: string };

/** Where a repository is and how to call git in it. A store without git needs only `commonDir`. */
export interface RepositoryPlace {
  /** Root of the work tree; of a bare repository its own directory. */
  readonly root: string;
  readonly gitDir: string;
  /** Shared by linked work trees. */
  readonly commonDir: string;
  readonly objectsDir: string;
  readonly objectFormat: 'sha1' | 'sha256';
  /** Working directory, environment and settings of every git call. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** The directory with `refs/` and `packed-refs`, if they are plain files. Absent: only git can read the refs. */
  readonly refsIn?: string;
}

/** Result of hashing the objects of a tree again. */
export interface HashedTree {
  readonly trees: number;
  readonly files: number;
  readonly bytes: number;
  /** Missing objects; the first twenty. */
  readonly absent: readonly string[];
  /** Number of objects that a partial clone omitted. git hashes them when it fetches them. */
  readonly promised: number;
  /** The first twenty objects with bytes that do not match their id, each with a short description. */
  readonly wrong: readonly string[];
  /** True if there were more distinct objects than the limit, or a tree too large to read: the rest was not checked. */
  readonly isCut: boolean;
  /** External object directories that the repository borrows from (alternates). Their owners may change the content. */
  readonly borrowed: readonly string[];
}
