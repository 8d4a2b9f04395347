import { lstat, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** What a server is to know of a workspace at one moment. */
export interface SourceFiles {
  /** Files of its language, and what tells one state of each from another. */
  readonly sources: ReadonlyMap<string, string>;
  /** The same of files that set a project up. */
  readonly project: ReadonlyMap<string, string>;
  /** What it may not see: the topmost of each, directories with a slash behind. */
  readonly hidden: readonly string[];
}

export interface SourceQuestion {
  readonly endings: readonly string[];
  readonly project: readonly string[];
  readonly shows: (path: string) => boolean;
}

const maxEntries = 200_000;

/**
 * Looks through a workspace in which nothing runs; `undefined` where it is too large to be looked through. No link is
 * followed: where one leads is looked at in its own place.
 */
export async function readSources(
  workspace: string,
  { endings, project, shows }: SourceQuestion,
): Promise<SourceFiles | undefined> {
  const found = { sources: new Map<string, string>(), project: new Map<string, string>() };
  const hidden: string[] = [];
  const pending = ['.'];
  let entries = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const names = await readdir(join(workspace, at), { withFileTypes: true }).catch(() => []);
    entries += names.length;
    if (entries > maxEntries) return undefined;
    for (const entry of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = posix.join(at, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      if (path === '.git' || !shows(path)) hidden.push(entry.isDirectory() ? `${path}/` : path);
      else if (entry.isDirectory()) pending.push(path);
      else {
        const isProject = project.includes(entry.name);
        if (!isProject && !endings.some((ending) => entry.name.endsWith(ending))) continue;
        found[isProject ? 'project' : 'sources'].set(path, await stateOf(join(workspace, path)));
      }
    }
  }
  return { ...found, hidden };
}

async function stateOf(file: string): Promise<string> {
  const status = await lstat(file, { bigint: true }).catch(() => undefined);
  return status === undefined ? '' : `${status.ino}.${status.size}.${status.mtimeNs}.${status.ctimeNs}`;
}

/**
 * What of the sources changed between two moments; `undefined` where more than their text did, so that whoever read the
 * first cannot be told of the second.
 */
export function changedTexts(before: SourceFiles, after: SourceFiles): readonly string[] | undefined {
  const isSame = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((one, index) => one === b[index]);
  if (!isSame(before.hidden, after.hidden)) return undefined;
  if (changedIn(before.project, after.project)?.length !== 0) return undefined;
  return changedIn(before.sources, after.sources);
}

function changedIn(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  if (before.size !== after.size) return undefined;
  const changed: string[] = [];
  for (const [path, state] of after) {
    const was = before.get(path);
    if (was === undefined) return undefined;
    if (was !== state) changed.push(path);
  }
  return changed;
}
