/* Reads the import graph around the files of a hint. */
import { declaringLanguage } from '../../readers/source/language.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import type { TreeEntry } from '../../workspace/git/tree.ts';
import { javascriptImports, resolveJavascript } from './imports/javascript-imports.ts';
import { type PythonImport, pythonImports, resolvePython } from './imports/python-imports.ts';

/** Importing file → imported files, all of them paths of one tree. Files without imports may be absent. */
type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

export interface ImportGraphRequest {
  readonly objects: GitDirectory;
  /** The whole tree, as `listTree` gives it. */
  readonly entries: readonly TreeEntry[];
  /** The files that matter: only their languages are read, and where a language has too many files only these. */
  readonly around: Iterable<string>;
}

export interface ReadImportGraph {
  readonly graph: ImportGraph;
  /** What the graph does not know, in words. */
  readonly gaps: readonly string[];
}

const maxFileBytes = 1024 * 1024;
const maxFiles = 20_000;
const maxTotalBytes = 256 * 1024 * 1024;
const maxCached = 100_000;
const maxRequestsPerFile = 2000;
const maxRequestLength = 1024;
const maxLevel = 64;

type Family = 'javascript' | 'python';
type Requests = readonly (string | PythonImport)[];

/** By blob id: the imports of a file do not depend on its path. */
const requestsByBlob: Readonly<Record<Family, Map<string, Requests>>> = {
  javascript: new Map(),
  python: new Map(),
};

/**
 * Reads the import graph around some files: TypeScript/JavaScript (relative specifiers) and Python. Files over 1 MiB,
 * binary files and `node_modules` are left out; a language with more than 20,000 files or 256 MiB is read for the files
 * in `around` alone.
 */
export async function readImportGraph({
  objects,
  entries,
  around,
}: ImportGraphRequest): Promise<ReadImportGraph> {
  const wanted = new Set(around);
  const files = entries.filter(isFile);
  const paths = new Set(files.map(({ path }) => path));
  const graph = new Map<string, ReadonlySet<string>>();
  const gaps: string[] = [];
  for (const family of ['javascript', 'python'] as const) {
    if (![...wanted].some((path) => declaringLanguage(path) === family)) continue;
    const sources = files.filter(
      (entry) => declaringLanguage(entry.path) === family && !isVendored(entry.path),
    );
    const readable = sources.filter(({ sizeBytes }) => sizeBytes <= maxFileBytes);
    if (readable.length < sources.length)
      gaps.push(`${family}: ${sources.length - readable.length} files over ${maxFileBytes} bytes`);
    const bytes = readable.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const isTooMuch = readable.length > maxFiles || bytes > maxTotalBytes;
    if (isTooMuch)
      gaps.push(`${family}: importers, because the tree holds ${readable.length} files of ${bytes} bytes`);
    const read = isTooMuch ? readable.filter(({ path }) => wanted.has(path)) : readable;
    const requests = await readRequests(objects, family, read);
    for (const { path, object } of read) {
      const targets = new Set<string>();
      for (const request of requests.get(object) ?? []) {
        for (const target of resolve(request, path, paths)) if (target !== path) targets.add(target);
      }
      if (targets.size > 0) graph.set(path, targets);
    }
  }
  return { graph, gaps };
}

/** The same edges seen from the imported file. */
export function importersOf(graph: ImportGraph): ImportGraph {
  const importers = new Map<string, Set<string>>();
  for (const [from, targets] of graph) {
    for (const target of targets) {
      const known = importers.get(target);
      if (known) known.add(from);
      else importers.set(target, new Set([from]));
    }
  }
  return importers;
}

async function readRequests(
  objects: GitDirectory,
  family: Family,
  entries: readonly TreeEntry[],
): Promise<ReadonlyMap<string, Requests>> {
  const cache = requestsByBlob[family];
  const requests = new Map<string, Requests>();
  const missing: TreeEntry[] = [];
  for (const entry of entries) {
    const known = cache.get(entry.object);
    if (known) requests.set(entry.object, known);
    else missing.push(entry);
  }
  await eachBlob(objects, missing, ({ object }, bytes) => {
    if (!bytes || requests.has(object)) return;
    const found = isBinary(bytes) ? [] : requestsIn(family, bytes.toString('latin1'));
    requests.set(object, found);
    if (cache.size >= maxCached) cache.clear();
    cache.set(object, found);
  });
  return requests;
}

function requestsIn(family: Family, text: string): Requests {
  const isShort = (name: string): boolean => name.length <= maxRequestLength;
  if (family === 'javascript')
    return javascriptImports(text)
      .filter((specifier) => specifier.startsWith('.') && isShort(specifier))
      .slice(0, maxRequestsPerFile)
      .map(decoded);
  let left = maxRequestsPerFile;
  return pythonImports(text).flatMap(({ level, module, names }) => {
    left -= 1 + names.length;
    if (left < 0 || level > maxLevel || !isShort(module)) return [];
    return [{ level, module: decoded(module), names: names.filter(isShort).map(decoded) }];
  });
}

/** Decodes the bytes into a separate string, because a slice would keep the whole file in memory. */
function decoded(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function resolve(
  request: string | PythonImport,
  from: string,
  paths: ReadonlySet<string>,
): readonly string[] {
  if (typeof request !== 'string') return resolvePython(request, from, paths);
  const target = resolveJavascript(request, from, paths);
  return target === undefined ? [] : [target];
}

const maxBatchBytes = 32 * 1024 * 1024;
const maxBatchEntries = 10_000;

/** True for a file with content; not for symlinks and submodules. */
export function isFile(entry: TreeEntry): boolean {
  return entry.mode === '100644' || entry.mode === '100755';
}

/** Calls `take` with the content of each entry, in order, or with `undefined` if the content cannot be read. */
export type EachBlob = (
  entries: readonly TreeEntry[],
  take: (entry: TreeEntry, bytes: Buffer | undefined) => Promise<void> | void,
) => Promise<void>;

/**
 * Calls `take` with the content of each entry, in order, and holds about 32 MiB at a time. `bytes` is `undefined` if
 * the repository does not hold the object (a partial clone).
 */
export async function eachBlob(
  objects: GitDirectory,
  entries: readonly TreeEntry[],
  take: (entry: TreeEntry, bytes: Buffer | undefined) => Promise<void> | void,
): Promise<void> {
  for (let from = 0; from < entries.length; ) {
    let to = from;
    for (let bytes = 0; to < entries.length && to - from < maxBatchEntries; to += 1) {
      bytes += entries[to]?.sizeBytes ?? 0;
      if (bytes > maxBatchBytes && to > from) break;
    }
    const batch = entries.slice(from, to);
    const read = await readObjects(
      objects,
      batch.map(({ object }) => object),
    );
    for (const [index, entry] of batch.entries()) await take(entry, read[index]?.bytes);
    from = to;
  }
}

const inspectedBytes = 8000;

/** Uses the same rule as git: a NUL byte near the beginning marks a binary file. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, inspectedBytes).includes(0);
}

/** True for what others wrote and this tree only keeps. */
export function isVendored(path: string): boolean {
  return path.startsWith('node_modules/') || path.includes('/node_modules/');
}
