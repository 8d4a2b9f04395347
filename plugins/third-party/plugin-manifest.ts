import { parseText, parseWord, toFields, toPointer } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/printable.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { DescribedRule, Rule, RulePoint, RuleText } from '../../core/interfaces/rule.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import {
  atMember,
  faultAt,
  kebabCase,
  listAt,
  type ManifestOption,
  maxName,
  membersOf,
  needFields,
  type PluginNeeds,
  parseModule,
  parseNeeds,
  parseOption,
  parseSeconds,
} from './manifest-parts.ts';
import { type ManifestParts, overParts, type PartField, parsePart, partFields } from './part-kinds.ts';
import { invalidFile, invalidPackage, type PluginPackage } from './plugin-package.ts';

/** A plugin's description in `package.json`, under `writ`: data only, so that reading it runs no plugin code. */
export interface PluginManifest extends ManifestParts {
  /** Kebab-case: `writ.name`, else the package's name without its scope. */
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  readonly needs: PluginNeeds;
  /** Options that its `[[plugins]]` entry may set for its parts; rules do not receive them. */
  readonly options: readonly ManifestOption[];
  readonly rules: readonly ManifestRule[];
}

/** A rule as the manifest declares it. */
interface ManifestRule extends Pick<Rule, 'id' | 'point' | 'reads' | 'timeoutSeconds'>, RuleMeta {
  /** A file of the package. */
  readonly module: string;
  /** `by-policy`: only a `policy` check of the spec runs it. */
  readonly asked: 'always' | 'by-policy';
}

const ownFields = ['api', 'name', ...needFields, 'options', 'rules', ...Object.values(partFields)];
const points: readonly RulePoint[] = ['patch', ...stageNames, 'every-stage'];
const maxRules = 64;
const maxParts = 16;
const maxOptions = 64;
const maxReads = 64;

/** Reads and validates the manifest. Throws PLUGIN_INVALID with the location of the fault. */
export function readManifest(pluginPackage: PluginPackage, place: string): PluginManifest {
  const bytes = pluginPackage.files.get('package.json');
  if (bytes === undefined) throw invalidPackage(place, 'it has no `package.json`');
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID', maxBytes: 256 * 1024, maxDepth: 16 });
    const fields = toFields(value, 'an object');
    const packageName = parseText(fields, 'name', 214);
    const version = parseText(fields, 'version', 128);
    const own = atMember('writ', () => readOwn(fields.writ, packageName, pluginPackage));
    return { packageName, version, ...own };
  } catch (cause) {
    throw invalidFile(place, 'package.json', cause);
  }
}

function readOwn(
  given: unknown,
  packageName: string,
  pluginPackage: PluginPackage,
): Omit<PluginManifest, 'packageName' | 'version'> {
  const own = membersOf(given, 'an object `writ`', ownFields);
  if (own.api !== 1) throw new TypeError('expected `api` to be 1');
  const name =
    own.name === undefined ? packageName.replace(/^@[^/]*\//, '') : parseText(own, 'name', maxName);
  if (!kebabCase.test(name) || name.length > maxName)
    throw new TypeError(
      `expected \`name\` (absent: that of the package, without its scope) in kebab-case, at most ${maxName} letters, got ${quoted(name)}`,
    );
  const needs = parseNeeds(own);
  const options = listAt(own, 'options', parseOption, maxOptions);
  const rules = listAt(own, 'rules', (item) => parseRule(item, pluginPackage), maxRules);
  const parts = overParts<ManifestParts>((field, kind) =>
    listAt(own, field, (item) => parsePart(kind, item, pluginPackage, needs), maxParts),
  );
  const fieldNames = ['rules', ...Object.values(partFields)].map((field) => `\`${field}\``);
  if (rules.length === 0 && Object.values(parts).every((list) => list.length === 0))
    throw new TypeError(`expected at least one entry of ${fieldNames.join(', ')}`);
  requireOnce(
    'rules',
    rules.map(({ id }) => id),
  );
  for (const [field, list] of Object.entries({ options, ...parts }))
    requireOnce(
      field,
      list.map((one) => one.name),
    );
  return { name, needs, options, rules, ...parts };
}

function parseRule(item: unknown, pluginPackage: PluginPackage): ManifestRule {
  const known = ['id', 'point', 'module', 'asked', 'reads', 'timeoutSeconds', ...metaFields];
  const fields = membersOf(item, 'a rule', known);
  const id = parseText(fields, 'id', maxName);
  if (!kebabCase.test(id)) throw new TypeError(`expected \`id\` in kebab-case, got ${quoted(id)}`);
  const what = `rule \`${id}\``;
  return {
    id,
    point: parseWord(fields, 'point', points),
    module: parseModule(fields, what, pluginPackage),
    asked: fields.asked === undefined ? 'always' : parseWord(fields, 'asked', ['always', 'by-policy']),
    ...(fields.reads === undefined
      ? {}
      : { reads: listAt(fields, 'reads', (reads) => parseText({ reads }, 'reads', 1024), maxReads) }),
    ...parseRuleMeta(fields),
    ...parseSeconds(fields, what),
  };
}

function requireOnce(field: string, names: readonly string[]): void {
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice >= 0) throw faultAt(toPointer([field, twice]), `\`${names[twice]}\` is there twice`);
}

type Fields = Readonly<Record<string, unknown>>;

const flags = [
  'readsUnchanged',
  'readsArtifacts',
  'readsJudge',
  'readsStanding',
  'judgesWhole',
  'judgesChange',
  'findsSecrets',
] as const satisfies readonly (keyof Rule)[];

/**
 * Fields of a manifest's rule beside its id, point, module and bounds: those that a built-in rule has, as data. Not
 * `scan`: a scan loads no plugin, and a field without effect is refused.
 */
const metaFields: readonly string[] = [...flags, 'judgesArtifact', 'text', 'rows'];

/** A manifest's fields of a rule that have the same name and meaning as in a built-in rule. */
type RuleMeta = Pick<Rule, (typeof flags)[number] | 'judgesArtifact' | 'text'> & {
  readonly rows?: readonly DescribedRule[];
};

const textFields = ['about', 'help', 'level', 'securitySeverity', 'tags'];
const maxSentence = 1000;
const maxTags = 20;
const maxRows = 1000;

/** Reads them; throws on nonsense. */
function parseRuleMeta(fields: Fields): RuleMeta {
  const { judgesArtifact, text, rows } = fields;
  return {
    ...Object.assign({}, ...flags.map((flag) => parseFlag(fields, flag))),
    ...(judgesArtifact === undefined ? {} : { judgesArtifact: parseText(fields, 'judgesArtifact', 64) }),
    ...(text === undefined
      ? {}
      : { text: atMember('text', () => parseRuleText(toFields(text, 'an object `text`', textFields))) }),
    ...(rows === undefined ? {} : { rows: listAt(fields, 'rows', parseRow, maxRows) }),
  };
}

function parseFlag(fields: Fields, flag: string): Readonly<Record<string, boolean>> {
  const value = fields[flag];
  if (value === undefined) return {};
  if (typeof value !== 'boolean') throw new TypeError(`expected \`${flag}\` to be true or false`);
  return { [flag]: value };
}

function parseRow(item: unknown): DescribedRule {
  const fields = toFields(item, 'a row', ['id', ...textFields]);
  return { id: parseText(fields, 'id', 64), ...parseRuleText(fields) };
}

function parseRuleText(fields: Fields): RuleText {
  const { help, level, securitySeverity } = fields;
  if (securitySeverity !== undefined && !/^(?:10\.0|\d\.\d)$/.test(String(securitySeverity)))
    throw new TypeError('expected `securitySeverity` from "0.0" to "10.0"');
  return {
    about: parseText(fields, 'about', maxSentence),
    ...(help === undefined ? {} : { help: parseText(fields, 'help', maxSentence) }),
    ...(level === undefined ? {} : { level: parseWord(fields, 'level', ['error', 'warning']) }),
    ...(securitySeverity === undefined ? {} : { securitySeverity: parseText(fields, 'securitySeverity', 4) }),
    tags: listAt(fields, 'tags', (tag) => parseText({ tag }, 'tag', 64), maxTags),
  };
}

/**
 * Names that a plugin's parts must not use: built-in names of the same kind, and for rules also those of policy
 * engines.
 */
export function usedNames({
  slots: { provider, policy, log, artifact, evidence },
  rules,
}: Pick<WritEngine, 'slots' | 'rules'>): Readonly<Record<PartField | 'rules', readonly string[]>> {
  const ruleNames = [...rules.ids, ...policy.names];
  return {
    rules: ruleNames,
    providers: provider.names,
    logs: log.names,
    // What a stage check finds bears its name as the rule.
    stageChecks: ruleNames,
    artifacts: artifact.names,
    evidence: evidence.names,
  };
}
