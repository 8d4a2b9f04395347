import { gzipSync } from 'node:zlib';
import { schemaFaults } from './published-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const limits = {
  gzipBytes: 10 * 1024 * 1024,
  runs: 20,
  results: 25_000,
  rules: 25_000,
  extensions: 100,
  locations: 1_000,
  tags: 20,
  name: 255,
  description: 1024,
};
const levels = ['error', 'warning', 'note', 'none'];

/**
 * What GitHub code scanning would not take in of a SARIF file, by its published description: size, counts, required
 * properties, relative addresses, regions from 1, fingerprints; and what the schema of SARIF 2.1.0 says against it.
 * Empty where it takes all of it.
 */
export function githubIngestionFaults(text: string): readonly string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string): void => {
    if (!holds && faults.length < 50) faults.push(fault);
  };
  expect(gzipSync(text).length <= limits.gzipBytes, 'more than 10 MB of gzip');
  expect(text.isWellFormed(), 'text that is no Unicode');
  const log = objectOf(JSON.parse(text));
  for (const fault of schemaFaults(log)) expect(false, fault);
  expect(log.version === '2.1.0', 'version');
  expect(isText(log.$schema), '$schema');
  const runs = listOf(log.runs);
  expect(runs.length >= 1 && runs.length <= limits.runs, `${runs.length} runs`);
  const categories = new Set<string>();
  for (const run of runs) {
    const category = `${nameOf(run)} ${objectOf(run.automationDetails).id}`;
    expect(!categories.has(category), `two runs of ${category}`);
    categories.add(category);
    judgeRun(run, expect);
  }
  return faults;
}

function judgeRun(run: Json, expect: (holds: boolean, fault: string) => void): void {
  const tool = objectOf(run.tool);
  const rules = listOf(objectOf(tool.driver).rules);
  expect(isText(nameOf(run)), 'tool.driver.name');
  expect(listOf(tool.extensions).length <= limits.extensions, 'extensions');
  expect(rules.length <= limits.rules, `${rules.length} rules`);
  for (const [index, rule] of rules.entries()) judgeRule(rule, `rules[${index}]`, expect);
  const ids = rules.map(({ id }) => id);
  expect(new Set(ids).size === ids.length, 'a rule twice');
  expect(Array.isArray(run.results), 'results');
  const results = listOf(run.results);
  expect(results.length <= limits.results, `${results.length} results`);
  const seen = new Set<string>();
  for (const [index, result] of results.entries()) {
    const at = `results[${index}]`;
    expect(ids.includes(result.ruleId), `${at}.ruleId`);
    expect(
      result.ruleIndex === undefined || ids[Number(result.ruleIndex)] === result.ruleId,
      `${at}.ruleIndex`,
    );
    expect(result.level === undefined || levels.includes(String(result.level)), `${at}.level`);
    expect(isText(objectOf(result.message).text), `${at}.message.text`);
    const locations = listOf(result.locations);
    expect(locations.length >= 1 && locations.length <= limits.locations, `${at}.locations`);
    for (const location of locations) judgeLocation(location, `${at}.locations`, expect);
    const print = objectOf(result.partialFingerprints).primaryLocationLineHash;
    expect(isText(print), `${at}.partialFingerprints`);
    const place = objectOf(objectOf(locations[0]).physicalLocation);
    const identity = JSON.stringify([result.ruleId, objectOf(place.artifactLocation).uri, print]);
    expect(!seen.has(identity), `${at} has the fingerprint of another`);
    seen.add(identity);
    for (const { kind } of listOf(result.suppressions))
      expect(kind === 'inSource' || kind === 'external', `${at}.suppressions`);
  }
}

function judgeRule(rule: Json, at: string, expect: (holds: boolean, fault: string) => void): void {
  expect(isText(rule.id) && rule.id.length <= limits.name, `${at}.id`);
  expect(rule.name === undefined || (isText(rule.name) && rule.name.length <= limits.name), `${at}.name`);
  for (const name of ['shortDescription', 'fullDescription', 'help']) {
    const { text } = objectOf(rule[name]);
    expect(isText(text) && (name === 'help' || text.length <= limits.description), `${at}.${name}.text`);
  }
  const { level } = objectOf(rule.defaultConfiguration);
  expect(level === undefined || levels.includes(String(level)), `${at}.defaultConfiguration.level`);
  const { tags = [], 'security-severity': severity } = objectOf(rule.properties);
  expect(Array.isArray(tags) && tags.length <= limits.tags && tags.every(isText), `${at}.properties.tags`);
  const isScore = typeof severity === 'string' && /^\d{1,2}\.\d$/.test(severity) && Number(severity) <= 10;
  expect(severity === undefined || isScore, `${at}.properties.security-severity`);
}

function judgeLocation(location: Json, at: string, expect: (holds: boolean, fault: string) => void): void {
  const { artifactLocation, region } = objectOf(location.physicalLocation);
  const { uri } = objectOf(artifactLocation);
  expect(isText(uri) && isRelative(uri), `${at}.artifactLocation.uri \`${uri}\``);
  const { startLine, startColumn, endLine, endColumn } = objectOf(region);
  for (const [name, value] of Object.entries({ startLine, startColumn, endLine, endColumn }))
    expect(Number.isInteger(value) && Number(value) >= 1, `${at}.region.${name} \`${value}\``);
  expect(Number(endLine) >= Number(startLine), `${at}.region ends before it starts`);
  expect(endLine !== startLine || Number(endColumn) > Number(startColumn), `${at}.region is empty`);
}

/** A relative reference (RFC 3986, 4.2) that stays below its root and means one path whatever decodes it. */
function isRelative(uri: string): boolean {
  if (!/^(?:[A-Za-z0-9\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+$/.test(uri) || uri.startsWith('/')) return false;
  return uri.split('/').every((segment) => segment !== '' && segment !== '..' && segment !== '.');
}

function nameOf(run: Json): unknown {
  return objectOf(objectOf(run.tool).driver).name;
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
