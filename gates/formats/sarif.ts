import { isObject, isText, type JsonObject } from './read-json.ts';

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
  return bad === -1 ? undefined : `no \`message\` of \`results[${bad}]\``;
}

/** A result with its level worked out. */
export interface SarifResult {
  readonly ruleId: string;
  readonly level: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
}

/** Every result of a run that passed `sarifFault`, with the level that sections 3.27.9 and 3.27.10 give it. */
export function* sarifResults(run: JsonObject): Generator<SarifResult> {
  for (const result of Array.isArray(run.results) ? run.results : []) {
    if (!isObject(result)) continue;
    const rule = ruleOf(run, result);
    const place = placeOf(result);
    yield {
      ruleId: text(result.ruleId) ?? text(rule?.id) ?? 'unnamed rule',
      level: levelOf(result, rule),
      message: messageOf(result),
      ...place,
    };
  }
}

function levelOf(result: JsonObject, rule: JsonObject | undefined): string {
  if (isText(result.level)) return result.level;
  if (isText(result.kind) && result.kind !== 'fail') return 'none';
  const setting = rule?.defaultConfiguration;
  return (isObject(setting) && text(setting.level)) || 'warning';
}

/** The rule in the driver or in one of its extensions (section 3.52). */
function ruleOf(run: JsonObject, result: JsonObject): JsonObject | undefined {
  const reference = isObject(result.rule) ? result.rule : {};
  const tool = isObject(run.tool) ? run.tool : {};
  const component = isObject(reference.toolComponent) ? reference.toolComponent : undefined;
  const extensions = Array.isArray(tool.extensions) ? tool.extensions : [];
  const owner = component === undefined ? tool.driver : itemAt(extensions, component.index);
  const rules = isObject(owner) && Array.isArray(owner.rules) ? owner.rules : [];
  const found = itemAt(rules, result.ruleIndex) ?? itemAt(rules, reference.index);
  if (isObject(found)) return found;
  const id = text(result.ruleId) ?? text(reference.id);
  const named = rules.find((rule) => isObject(rule) && rule.id === id);
  return isObject(named) ? named : undefined;
}

function itemAt(list: readonly unknown[], index: unknown): unknown {
  return Number.isInteger(index) ? list[Number(index)] : undefined;
}

function messageOf({ message }: JsonObject): string {
  return (isObject(message) && (text(message.text) ?? text(message.id))) || 'no message';
}

function placeOf({ locations }: JsonObject): { path?: string; line?: number } {
  const first = Array.isArray(locations) ? locations[0] : undefined;
  const physical = isObject(first) ? first.physicalLocation : undefined;
  if (!isObject(physical)) return {};
  const uri = isObject(physical.artifactLocation) ? text(physical.artifactLocation.uri) : undefined;
  const line = isObject(physical.region) ? physical.region.startLine : undefined;
  return {
    ...(uri === undefined ? {} : { path: pathOf(uri.slice(0, 1000)) }),
    ...(Number.isInteger(line) && Number(line) > 0 ? { line: Number(line) } : {}),
  };
}

/** The path that a relative reference means; what is absolute, or encoded wrongly, stays as it is written. */
function pathOf(uri: string): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri)) return uri;
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}
