import { isObject, isText, type JsonObject } from './read-json.ts';
import { readLevels } from './sarif-level.ts';
import { type PathOf, readPaths } from './sarif-path.ts';
import { readRules } from './sarif-rules.ts';

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
  return (
    Array.isArray(locations) &&
    locations.some((one) => {
      const line = regionOf(one)?.startLine;
      return line !== undefined && line !== null && !(Number.isSafeInteger(line) && Number(line) >= 1);
    })
  );
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
  for (const result of Array.isArray(run.results) ? run.results : []) {
    if (!isObject(result)) continue;
    const reference = isObject(result.rule) ? result.rule : {};
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
  return (isObject(message) && (text(message.text) ?? text(message.id))) || 'no message';
}

function placeOf(
  { locations }: JsonObject,
  pathOf: PathOf,
): Pick<SarifResult, 'path' | 'line' | 'endLine' | 'snippet' | 'symbol'> {
  const first: unknown = Array.isArray(locations) ? locations[0] : undefined;
  const artifact = physicalOf(first)?.artifactLocation;
  const path = isObject(artifact) ? pathOf(artifact) : undefined;
  const { startLine: line, endLine, snippet } = regionOf(first) ?? {};
  const quoted = isObject(snippet) ? text(snippet.text) : undefined;
  const symbol = symbolOf(first);
  return {
    ...(path === undefined ? {} : { path }),
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof endLine === 'number' ? { endLine } : {}),
    ...(quoted === undefined ? {} : { snippet: quoted }),
    ...(symbol === undefined ? {} : { symbol }),
  };
}

function symbolOf(location: unknown): string | undefined {
  const logical = isObject(location) ? location.logicalLocations : undefined;
  const named: unknown = Array.isArray(logical) ? logical[0] : undefined;
  return isObject(named) ? (text(named.fullyQualifiedName) ?? text(named.name)) : undefined;
}

function regionOf(location: unknown): JsonObject | undefined {
  const region = physicalOf(location)?.region;
  return isObject(region) ? region : undefined;
}

function physicalOf(location: unknown): JsonObject | undefined {
  const physical = isObject(location) ? location.physicalLocation : undefined;
  return isObject(physical) ? physical : undefined;
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}
