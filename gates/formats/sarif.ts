/* Checks and reads SARIF reports. */
import { workspaceInside } from '../../core/interfaces/sandbox.ts';
import { listOf, tableOf } from '../../readers/packages/content.ts';
import { stated } from '../../readers/packages/reading.ts';
import { isObject, isText, type JsonObject, objectsOf } from './documents.ts';
import { invocationsOf, readLevels, readRules } from './sarif-level.ts';

/** What a document lacks to be SARIF 2.1.0 (OASIS, sections 3.13, 3.14, 3.18, 3.27); `undefined` where it is. */
export function sarifFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  if (value.version !== '2.1.0') return `\`version\` that is not "2.1.0"`;
  if (!Array.isArray(value.runs)) return 'no `runs`';
  for (const [index, run] of value.runs.entries()) {
    const fault = runFault(run);
    if (fault) return `${fault} in \`runs[${index}]\``;
  }
  return undefined;
}

function runFault(run: unknown): string | undefined {
  if (!isObject(run)) return 'no object';
  const driver = isObject(run.tool) ? run.tool.driver : undefined;
  if (!isObject(driver) || !isText(driver.name)) return 'no `tool.driver.name`';
  if (run.results === undefined || run.results === null) return undefined;
  if (!Array.isArray(run.results)) return '`results` that are no list';
  const bad = run.results.findIndex((result) => !isObject(result) || !isObject(result.message));
  if (bad !== -1) return `no \`message\` of \`results[${bad}]\``;
  const lineless = run.results.findIndex((result) => isObject(result) && hasBadLine(result));
  return lineless === -1 ? undefined : `\`startLine\` that is no number from 1 in \`results[${lineless}]\``;
}

/** Lines count from 1 (section 3.30.5). */
function hasBadLine({ locations }: JsonObject): boolean {
  return listOf(locations).some((one) => {
    const line = regionOf(one).startLine;
    return line !== undefined && line !== null && !(Number.isSafeInteger(line) && Number(line) >= 1);
  });
}

/** A result with its level worked out. */
export interface SarifResult {
  readonly ruleId: string;
  readonly level: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly endLine?: number;
  /** Text of the region, as the report quotes it. */
  readonly snippet?: string;
  /** The enclosing function or class, as the report names it. */
  readonly symbol?: string;
}

/** Every result of a run that passed `sarifFault`, with its level and the path in the repository. */
export function* sarifResults(run: JsonObject): Generator<SarifResult> {
  const rules = readRules(run);
  const levelOf = readLevels(run, rules);
  const pathOf = readPaths(run);
  for (const result of objectsOf(run.results)) {
    const reference = tableOf(result.rule);
    const rule = rules.find({
      ...reference,
      index: reference.index ?? result.ruleIndex,
      id: text(result.ruleId) ?? reference.id,
    });
    yield {
      ruleId: text(result.ruleId) ?? text(reference.id) ?? text(rule?.id) ?? 'unnamed rule',
      level: levelOf(result, rule),
      message: messageOf(result),
      ...placeOf(result, pathOf),
    };
  }
}

function messageOf({ message }: JsonObject): string {
  return text(tableOf(message).text) ?? text(tableOf(message).id) ?? 'no message';
}

function placeOf(
  { locations }: JsonObject,
  pathOf: PathOf,
): Pick<SarifResult, 'path' | 'line' | 'endLine' | 'snippet' | 'symbol'> {
  const first = listOf(locations)[0];
  const { startLine: line, endLine, snippet } = regionOf(first);
  const logical = tableOf(listOf(tableOf(first).logicalLocations)[0]);
  return stated({
    path: pathOf(tableOf(physicalOf(first).artifactLocation)),
    line: typeof line === 'number' ? line : undefined,
    endLine: typeof endLine === 'number' ? endLine : undefined,
    snippet: text(tableOf(snippet).text),
    symbol: text(logical.fullyQualifiedName) ?? text(logical.name),
  });
}

function regionOf(location: unknown): JsonObject {
  return tableOf(physicalOf(location).region);
}

function physicalOf(location: unknown): JsonObject {
  return tableOf(tableOf(location).physicalLocation);
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

const maxUri = 1000;
/** A base may be relative to another one (section 3.14.14). */
const maxBases = 8;

/** Returns the repository path of an `artifactLocation`. */
type PathOf = (location: JsonObject) => string | undefined;

/**
 * Maps locations of a run to paths of the repository: paths below the sandbox's workspace, below a base that the run
 * declares, or below its working directory lose that part. Any other absolute URI stays as it is written.
 */
function readPaths(run: JsonObject): PathOf {
  const bases = tableOf(run.originalUriBaseIds);
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

/** Absolute directories that the run states as its working directories; never the root of the file system. */
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

/** Resolves a base id to an absolute directory, or to a path below an unknown base. Empty if there is none. */
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
