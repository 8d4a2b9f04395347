import { workspaceInside } from '../../core/contract/sandbox.ts';
import { isObject, isText, type JsonObject } from './read-json.ts';
import { invocationsOf } from './sarif-level.ts';

const maxUri = 1000;
/** A base may be relative to another one (section 3.14.14). */
const maxBases = 8;

/** Answers the repository path that an `artifactLocation` means. */
export type PathOf = (location: JsonObject) => string | undefined;

/**
 * Maps locations of a run to paths of the repository: paths below the sandbox's workspace, below a base that the run
 * declares, or below its working directory lose that part. Any other absolute URI stays as it is written.
 */
export function readPaths(run: JsonObject): PathOf {
  const bases = isObject(run.originalUriBaseIds) ? run.originalUriBaseIds : {};
  const roots = [...declaredRoots(run, bases)].sort((a, b) => b.length - a.length);
  return (location) => {
    if (!isText(location.uri)) return undefined;
    const uri = location.uri.slice(0, maxUri);
    const inside = pathOfUri(uri);
    if (inside === undefined) return uri;
    if (inside.startsWith('/')) return below([workspaceRoot, ...roots], inside) ?? uri;
    const base = baseOf(bases, location.uriBaseId);
    const joined = normalise(`${base}${inside}`);
    return joined.startsWith('/') ? (below([workspaceRoot], joined) ?? normalise(inside)) : joined;
  };
}

const workspaceRoot = `${workspaceInside}/`;

function below(roots: readonly string[], path: string): string | undefined {
  const plain = normalise(path);
  const root = roots.find((one) => plain.startsWith(one) && plain.length > one.length);
  return root === undefined ? undefined : plain.slice(root.length);
}

/** Absolute directories that the run says it worked in; never the root of the file system. */
function* declaredRoots(run: JsonObject, bases: JsonObject): Generator<string> {
  const directories = invocationsOf(run)
    .slice(0, 100)
    .map((invocation) => invocation.workingDirectory);
  for (const one of [...Object.values(bases).slice(0, 100), ...directories]) {
    const path = isObject(one) && isText(one.uri) ? pathOfUri(one.uri.slice(0, maxUri)) : undefined;
    if (path === undefined || !path.startsWith('/')) continue;
    const root = normalise(path).replace(/\/?$/, '/');
    if (root !== '/') yield root;
  }
}

/** What a base means: an absolute directory, or a path below a base that is not known; empty for none. */
function baseOf(bases: JsonObject, id: unknown): string {
  let path = '';
  let name = id;
  for (let depth = 0; depth < maxBases && isText(name) && Object.hasOwn(bases, name); depth += 1) {
    const base = bases[name];
    if (!isObject(base)) return path;
    const part = isText(base.uri) ? pathOfUri(base.uri.slice(0, maxUri)) : undefined;
    if (part !== undefined) path = `${part.replace(/\/?$/, '/')}${path}`;
    if (path.startsWith('/')) return path;
    name = base.uriBaseId;
  }
  return path;
}

/** The decoded path of a relative reference or a `file:` URI; `undefined` for another scheme or wrong escapes. */
function pathOfUri(uri: string): string | undefined {
  const path = uri.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '');
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(path) || path.startsWith('//')) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Without `.`, `..` and empty parts, as far as they stay inside. */
function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}
