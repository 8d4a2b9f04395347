/* Reads a SARIF report: its form, its results and their levels. */
import { workspaceInside } from '../../core/interfaces/sandbox.ts';
import { listOf, tableOf } from '../../readers/packages/content.ts';
import { stated } from '../../readers/packages/reading.ts';
import { plainLine } from '../reports/test-report.ts';
import { isObject, isText, type JsonObject, objectsOf } from './documents.ts';

const levels = ['none', 'note', 'warning', 'error'];
/** CVSS v3: high begins here. Scanners state it as `properties["security-severity"]` of a rule. */
const highSeverity = 7;
/** More overrides than any tool has rules. */
const maxOverrides = 100_000;

/**
 * The level of a result as in SARIF sections 3.27.9 and 3.27.10: of the result, of an override of the invocation, of
 * the rule, otherwise `warning`. A warning counts as an error if its rule has a high or critical `security-severity`,
 * as on code hosts.
 */
function levelOf(result: JsonObject, rule: JsonObject | undefined, overrides: Overrides): string {
  const isOther = isText(result.kind) && result.kind !== 'fail';
  const index = tableOf(result.provenance).invocationIndex;
  const level = text(result.level) ?? (isOther ? 'none' : levelOfRule(rule, overrides, index));
  const stated = tableOf(rule?.properties)['security-severity'];
  const severity = typeof stated === 'string' && stated.trim() !== '' ? Number(stated) : stated;
  const isHigh = typeof severity === 'number' && Number.isFinite(severity) && severity >= highSeverity;
  return level === 'warning' && isHigh ? 'error' : level;
}

/** What an invocation, or where none is named any of them, sets for a rule; then the rule's own level. */
function levelOfRule(rule: JsonObject | undefined, overrides: Overrides, index: unknown): string {
  const named = itemAt(overrides, index);
  const set = (named === undefined ? overrides : [named]).flatMap((one) => (rule && one.get(rule)) ?? []);
  const own = text(tableOf(rule?.defaultConfiguration).level) ?? 'warning';
  return set.length === 0
    ? own
    : set.reduce((worst, one) => (levels.indexOf(one) > levels.indexOf(worst) ? one : worst));
}

type Overrides = readonly ReadonlyMap<JsonObject, string>[];

function readOverrides(run: JsonObject, rules: SarifRules, member: string): Overrides {
  let left = maxOverrides;
  return invocationsOf(run).map((invocation) => {
    const set = new Map<JsonObject, string>();
    for (const one of objectsOf(invocation[member])) {
      left -= 1;
      if (left < 0) break;
      const rule = rules.find(tableOf(one.descriptor));
      const level = text(tableOf(one.configuration).level);
      if (rule !== undefined && level !== undefined) set.set(rule, level);
    }
    return set;
  });
}

/** A tool that reports that it failed, or failed to inspect something, has not scanned (SARIF 3.20.14, 3.58.6). */
export function unfinishedReason(run: JsonObject): string | undefined {
  if (tableOf(run.externalPropertyFileReferences).results !== undefined)
    return 'results that are in other files';
  if (!Array.isArray(run.results)) return 'a run without `results`: the tool did not scan';
  const failed = invocationsOf(run).some(
    ({ executionSuccessful, processStartFailureMessage, exitSignalName }) =>
      executionSuccessful === false || isText(processStartFailureMessage) || isText(exitSignalName),
  );
  if (failed) return 'a run that did not end successfully';
  const notified = errorNotification(run);
  return notified && `a notification of level \`error\`: ${plainLine(notified, 300)}`;
}

/**
 * The text of the first notification of level `error`: the tool could not inspect something (section 3.58.6);
 * `undefined` when there is none.
 */
function errorNotification(run: JsonObject): string | undefined {
  const descriptors = readRules(run, 'notifications');
  const overrides = readOverrides(run, descriptors, 'notificationConfigurationOverrides');
  for (const [index, invocation] of invocationsOf(run).entries())
    for (const member of ['toolExecutionNotifications', 'toolConfigurationNotifications'])
      for (const one of objectsOf(invocation[member])) {
        const descriptor = descriptors.find(tableOf(one.descriptor));
        if ((text(one.level) ?? levelOfRule(descriptor, overrides, index)) === 'error') return messageOf(one);
      }
  return undefined;
}

/** Invocations of a run. An entry that is not an object becomes an empty object, so that indexes stay valid. */
function invocationsOf({ invocations }: JsonObject): readonly JsonObject[] {
  return listOf(invocations).map(tableOf);
}

/** Rules of one run, found by index or by id. */
interface SarifRules {
  /** Returns the descriptor of a result, or of a reference as in section 3.52. */
  find(reference: JsonObject): JsonObject | undefined;
}

interface Component {
  readonly value: JsonObject;
  readonly rules: readonly unknown[];
  readonly byId: ReadonlyMap<string, JsonObject>;
  readonly byGuid: ReadonlyMap<string, JsonObject>;
}

/** A hierarchical id has at most this many parts. */
const maxParts = 16;

/**
 * Reads the rules of a run's driver and its extensions, each once. An id also matches a descriptor if it adds
 * components to the descriptor's id (`CA1000/1` matches `CA1000`; sections 3.27.5, 3.49.3, 3.52.4).
 */
function readRules(run: JsonObject, member: 'rules' | 'notifications' = 'rules'): SarifRules {
  const tool = tableOf(run.tool);
  const [driver, ...others] = [tool.driver, ...listOf(tool.extensions)].map((one) =>
    toComponent(one, member),
  );
  const components = [driver, ...others];
  return {
    find(reference) {
      const named = isObject(reference.toolComponent) ? reference.toolComponent : undefined;
      const owner = named === undefined ? driver : (componentOf(named, others, components) ?? driver);
      const indexed = itemAt(owner?.rules ?? [], reference.index);
      if (isObject(indexed)) return indexed;
      const byGuid = isText(reference.guid) ? owner?.byGuid.get(reference.guid) : undefined;
      if (byGuid !== undefined || !isText(reference.id)) return byGuid;
      const searched = named === undefined ? components : [owner];
      for (const id of idsOf(reference.id))
        for (const component of searched) {
          const found = component?.byId.get(id);
          if (found !== undefined) return found;
        }
      return undefined;
    },
  };
}

function toComponent(value: unknown, member: 'rules' | 'notifications'): Component | undefined {
  if (!isObject(value)) return undefined;
  const rules = listOf(value[member]);
  const byId = new Map<string, JsonObject>();
  const byGuid = new Map<string, JsonObject>();
  for (const rule of objectsOf(rules)) {
    if (isText(rule.id) && !byId.has(rule.id)) byId.set(rule.id, rule);
    if (isText(rule.guid)) byGuid.set(rule.guid, rule);
  }
  return { value, rules, byId, byGuid };
}

/** Resolves a reference to a component (section 3.54): an extension by index, any component by guid or name. */
function componentOf(
  { index, guid, name }: JsonObject,
  extensions: readonly (Component | undefined)[],
  all: readonly (Component | undefined)[],
): Component | undefined {
  return (
    itemAt(extensions, index) ??
    all.find(
      (one) =>
        (isText(guid) && one?.value.guid === guid) ||
        (guid === undefined && isText(name) && one?.value.name === name),
    )
  );
}

/** `a/b/c`, `a/b`, `a`. */
function* idsOf(id: string): Generator<string> {
  let rest = id;
  for (let parts = 0; parts < maxParts; parts += 1) {
    yield rest;
    const slash = rest.lastIndexOf('/');
    if (slash <= 0) return;
    rest = rest.slice(0, slash);
  }
}

/** The item of a list. Indexes count from 0; -1 is absent. */
function itemAt<Item>(list: readonly Item[], index: unknown): Item | undefined {
  return Number.isInteger(index) && Number(index) >= 0 ? list[Number(index)] : undefined;
}

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
  if (!isText(tableOf(tableOf(run.tool).driver).name)) return 'no `tool.driver.name`';
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

interface SarifResult {
  readonly ruleId: string;
  readonly level: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly snippet?: string;
  /** The enclosing function or class, as the report names it. */
  readonly symbol?: string;
}

/** Every result of a run that passed `sarifFault`, with its level and the path in the repository. */
export function* sarifResults(run: JsonObject): Generator<SarifResult> {
  const rules = readRules(run);
  const overrides = readOverrides(run, rules, 'ruleConfigurationOverrides');
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
      level: levelOf(result, rule, overrides),
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
