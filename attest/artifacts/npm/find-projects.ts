import { parseStrictJson } from '../../../core/base/strict-json.ts';
import { type Table, tableOf } from './manifest.ts';
import type { NpmProject } from './npm-project.ts';
import { readLockfile } from './read-lockfile.ts';

/** What of an ArtifactRequest is needed here. */
export interface Candidate {
  readCandidate(path: string): Promise<Uint8Array | undefined>;
  listCandidate(): Promise<readonly string[]>;
}

const lockfileNames = ['npm-shrinkwrap.json', 'package-lock.json'] as const;
const maxBytes = 64 * 1024 * 1024;

/**
 * The npm projects of a candidate: the one at the root, else every directory with a lockfile outside `node_modules`. A manifest without
 * dependencies needs no lockfile. `undefined` where there is none, or where one cannot be described completely.
 */
export async function findNpmProjects(candidate: Candidate): Promise<readonly NpmProject[] | undefined> {
  const paths = new Set(await candidate.listCandidate());
  const directories = paths.has('package.json') ? [''] : lockedDirectories(paths);
  const projects: NpmProject[] = [];
  for (const directory of directories) {
    const project = await readProject(candidate, paths, directory);
    if (project === undefined) return undefined;
    projects.push(project);
  }
  return projects.length > 0 ? projects : undefined;
}

function lockedDirectories(paths: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const slash = path.lastIndexOf('/');
    const directory = path.slice(0, Math.max(slash, 0));
    if (!lockfileNames.some((name) => path.slice(slash + 1) === name)) continue;
    if (paths.has(join(directory, 'package.json')) && !directory.split('/').includes('node_modules'))
      found.add(directory);
  }
  return [...found].sort();
}

async function readProject(
  candidate: Candidate,
  paths: ReadonlySet<string>,
  directory: string,
): Promise<NpmProject | undefined> {
  const read = async (path: string): Promise<Table | undefined> => {
    const bytes = await candidate.readCandidate(join(directory, path));
    return bytes === undefined ? undefined : parseTable(bytes);
  };
  const manifest = await read('package.json');
  if (manifest === undefined) return undefined;
  const lockfile = lockfileNames.find((name) => paths.has(join(directory, name)));
  if (lockfile === undefined) {
    const wants = [
      'dependencies',
      'devDependencies',
      'optionalDependencies',
      'peerDependencies',
      'workspaces',
    ];
    if (wants.some((field) => Object.keys(manifest[field] ?? {}).length > 0)) return undefined;
    return readLockfile(directory, manifest, { lockfileVersion: 3 }, read);
  }
  const lock = await read(lockfile);
  const manifestAt = (path: string): Promise<Table | undefined> => read(`${path}/package.json`);
  return lock === undefined ? undefined : readLockfile(directory, manifest, lock, manifestAt);
}

/** A JSON object out of a file of the candidate; anything else is nothing. npm writes and accepts a byte order mark. */
function parseTable(bytes: Uint8Array): Table | undefined {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    return tableOf(parseStrictJson(marked ? bytes.subarray(3) : bytes, { maxBytes, maxDepth: 400 }).value);
  } catch {
    return undefined;
  }
}

function join(directory: string, path: string): string {
  return directory === '' ? path : `${directory}/${path}`;
}
