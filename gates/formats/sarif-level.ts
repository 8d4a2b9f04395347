/* Levels, rules and invocations of SARIF reports. */
import { plainLine } from '../reports/test-report.ts';
import { isObject, isText, type JsonObject, objectsOf } from './documents.ts';

const levels = ['none', 'note', 'warning', 'error'];
/** CVSS v3: high begins here. Scanners state it as `properties["security-severity"]` of a rule. */
const highSeverity = 7;
/** More overrides than any tool has rules. */
const maxOverrides = 100_000;

/** Answers the level of each result of a run. */
type LevelOf = (result: JsonObject, rule: JsonObject | undefined) => string;

/**
 * Reads levels as in SARIF sections 3.27.9 and 3.27.10: of the result, of an override of the invocation, of the rule,
 * otherwise `warning`. A warning counts as an error if its rule has a high or critical `security-severity`, as on
 * code hosts.
 */
export function readLevels(run: JsonObject, rules: SarifRules): LevelOf {
  const overrides = readOverrides(run, rules, 'ruleConfigurationOverrides');
  return (result, rule) => {
    const level = statedLevel(result, rule, overrides);
    return level === 'warning' && severityOf(rule) >= highSeverity ? 'error' : level;
  };
}

function statedLevel(result: JsonObject, rule: JsonObject | undefined, overrides: Overrides): string {
  if (isText(result.level)) return result.level;
  if (isText(result.kind) && result.kind !== 'fail') return 'none';
  const index = isObject(result.provenance) ? result.provenance.invocationIndex : undefined;
  return levelOfRule(rule, overrides, index);
}

/** What an invocation, or where none is named any of them, sets for a rule; then the rule's own level. */
function levelOfRule(rule: JsonObject | undefined, overrides: Overrides, index: unknown): string {
  const named = itemAt(overrides, index);
  const searched = named === undefined ? overrides : [named];
  const set = rule === undefined ? [] : searched.flatMap((one) => one.get(rule) ?? []);
  if (set.length > 0) return set.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
  const own = rule?.defaultConfiguration;
  return isObject(own) && isText(own.level) ? own.level : 'warning';
}

function rank(level: string): number {
  return levels.indexOf(level);
}

function severityOf(rule: JsonObject | undefined): number {
  const stated = isObject(rule?.properties) ? rule.properties['security-severity'] : undefined;
  const severity = typeof stated === 'string' && stated.trim() !== '' ? Number(stated) : stated;
  return typeof severity === 'number' && Number.isFinite(severity) ? severity : 0;
}

/** The level that each invocation sets for a descriptor. */
type Overrides = readonly ReadonlyMap<JsonObject, string>[];

function readOverrides(run: JsonObject, rules: SarifRules, member: string): Overrides {
  let left = maxOverrides;
  return invocationsOf(run).map((invocation) => {
    const set = new Map<JsonObject, string>();
    for (const one of objectsOf(invocation[member])) {
      left -= 1;
      if (left < 0) break;
      const rule = isObject(one.descriptor) ? rules.find(one.descriptor) : undefined;
      const level = isObject(one.configuration) ? one.configuration.level : undefined;
      if (rule !== undefined && isText(level)) set.set(rule, level);
    }
    return set;
  });
}

/** A tool that reports that it failed, or failed to inspect something, has not scanned (SARIF 3.20.14, 3.58.6). */
export function unfinishedReason(run: JsonObject): string | undefined {
  const { results, externalPropertyFileReferences } = run;
  if (isObject(externalPropertyFileReferences) && externalPropertyFileReferences.results !== undefined)
    return 'results that are in other files';
  if (!Array.isArray(results)) return 'a run without `results`: the tool did not scan';
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
        const descriptor = isObject(one.descriptor) ? descriptors.find(one.descriptor) : undefined;
        const level = isText(one.level) ? one.level : levelOfRule(descriptor, overrides, index);
        if (level !== 'error') continue;
        const text = isObject(one.message) ? (one.message.text ?? one.message.id) : undefined;
        return isText(text) ? text : 'no message';
      }
  return undefined;
}

/** Invocations of a run. An entry that is not an object becomes an empty object, so that indexes stay valid. */
export function invocationsOf({ invocations }: JsonObject): readonly JsonObject[] {
  return Array.isArray(invocations) ? invocations.map((one) => (isObject(one) ? one : {})) : [];
}

/** Rules of one run, found by index or by id. */
export interface SarifRules {
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
export function readRules(run: JsonObject, member: 'rules' | 'notifications' = 'rules'): SarifRules {
  const tool = isObject(run.tool) ? run.tool : {};
  const extensions = Array.isArray(tool.extensions) ? tool.extensions : [];
  const [driver, ...others] = [tool.driver, ...extensions].map((one) => toComponent(one, member));
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
  const rules: readonly unknown[] = Array.isArray(value[member]) ? value[member] : [];
  const byId = new Map<string, JsonObject>();
  const byGuid = new Map<string, JsonObject>();
  for (const rule of rules) {
    if (!isObject(rule)) continue;
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
  const indexed = itemAt(extensions, index);
  return (
    indexed ??
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
