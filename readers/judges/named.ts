/** What one command leads to. Paths are of the tree. */
export type Named =
  | { readonly kind: 'script' | 'config' | 'test'; readonly path: string }
  /** Named in code that stands in the command. */
  | { readonly kind: 'mentioned'; readonly path: string }
  /** A script of a manifest; hooks go with it. */
  | { readonly kind: 'npm'; readonly manifest: string; readonly script: string }
  /** A target of a file of recipes. */
  | { readonly kind: 'recipes'; readonly path: string }
  /** What a manifest says is run where its directory is. */
  | { readonly kind: 'main'; readonly manifest: string }
  /** A name, or a glob, that is not there, and counts once it is. */
  | { readonly kind: 'absent'; readonly path: string }
  /** A directory all of whose files judge. */
  | { readonly kind: 'rules'; readonly path: string }
  /** Another directory in which the commands that follow run. */
  | { readonly kind: 'directory'; readonly path: string }
  /** A program as it is called, without its directory. */
  | { readonly kind: 'program'; readonly name: string };

/** The tree in which commands run. */
export interface JudgedTree {
  isFile(path: string): boolean;
  isDirectory(path: string): boolean;
  /** Files directly or further below a directory. */
  under(directory: string): readonly string[];
}
