/**
 * Where a repository lies and how git is asked about it, as whoever opened it found. A store without git needs
 * `commonDir` alone.
 */
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
  /**
   * The directory that holds `refs/` and `packed-refs`, where they are plain files; absent: only git can read the refs.
   */
  readonly refsIn?: string;
}
