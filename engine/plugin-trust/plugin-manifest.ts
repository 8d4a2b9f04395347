import { messageOf } from '../../core/base/errors.ts';
import { parseList, parseText, parseWord, toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Rule, RulePoint } from '../../core/contract/rule.ts';
import { stageNames } from '../../core/contract/stage.ts';
import { needFields, type PluginNeeds, parseNeeds } from './manifest-needs.ts';
import { type ManifestOption, parseOptions } from './manifest-options.ts';
import { kebabCase, parseModule } from './manifest-part.ts';
import { parseSeconds } from './manifest-seconds.ts';
import { metaFields, parseRuleMeta, type RuleMeta } from './parse-rule-meta.ts';
import { partFields } from './part-fields.ts';
import { type ManifestParts, overParts, parsePart } from './part-kinds.ts';
import { invalidPackage, type PluginPackage } from './plugin-package.ts';

/** What `package.json` says of a plugin, under `writ`: data alone, so that nothing of it runs to be known. */
export interface PluginManifest extends ManifestParts {
  /** Kebab-case: `writ.name`, else the package's name without its scope. */
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  readonly needs: PluginNeeds;
  /** What `options` of its `[[plugins]]` entry may say to what it brings beside rules. */
  readonly options: readonly ManifestOption[];
  readonly rules: readonly ManifestRule[];
}

/** A rule as the manifest declares it. */
export interface ManifestRule extends Pick<Rule, 'id' | 'point' | 'reads' | 'timeoutSeconds'>, RuleMeta {
  /** A file of the package. */
  readonly module: string;
  /** `by-policy`: only a `policy` check of the contract asks it. */
  readonly asked: 'always' | 'by-policy';
}

const ownFields = ['api', 'name', ...needFields, 'options', 'rules', ...Object.values(partFields)];
const points: readonly RulePoint[] = ['patch', ...stageNames, 'every-stage'];
const maxRules = 64;
const maxParts = 16;
const maxReads = 64;

/** Reads and checks the manifest; anything malformed is PLUGIN_INVALID that says where. */
export function readManifest(pluginPackage: PluginPackage, place: string): PluginManifest {
  const bytes = pluginPackage.files.get('package.json');
  if (bytes === undefined) throw invalidPackage(place, 'it has no `package.json`');
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID', maxBytes: 256 * 1024, maxDepth: 16 });
    const fields = toFields(value, 'an object');
    const packageName = parseText(fields, 'name', 214);
    const version = parseText(fields, 'version', 128);
    const own = toFields(fields.writ, 'an object `writ`', ownFields);
    if (own.api !== 1) throw new TypeError('expected `writ.api` to be 1');
    const name = own.name === undefined ? packageName.replace(/^@[^/]*\//, '') : parseText(own, 'name', 64);
    if (!kebabCase.test(name) || name.length > 64)
      throw new TypeError('expected `writ.name` in kebab-case, at most 64 letters');
    const needs = parseNeeds(own);
    const options = parseOptions(own.options);
    const rules = parseList(own.rules ?? [], (item) => parseRule(item, pluginPackage), maxRules);
    const parts = overParts<ManifestParts>((field, kind) =>
      parseList(own[field] ?? [], (item) => parsePart(kind, item, pluginPackage, needs), maxParts),
    );
    const fieldNames = ['rules', ...Object.values(partFields)].map((field) => `\`writ.${field}\``);
    if (rules.length === 0 && Object.values(parts).every((list) => list.length === 0))
      throw new TypeError(`expected at least one entry of ${fieldNames.join(', ')}`);
    requireOnce(
      'rule',
      rules.map(({ id }) => id),
    );
    requireOnce(
      'option',
      options.map((one) => one.name),
    );
    for (const [kind, field] of Object.entries(partFields))
      requireOnce(
        kind,
        parts[field].map((one) => one.name),
      );
    return { name, packageName, version, needs, options, rules, ...parts };
  } catch (cause) {
    throw invalidPackage(place, `\`package.json\`: ${messageOf(cause)}`, cause);
  }
}

function parseRule(item: unknown, pluginPackage: PluginPackage): ManifestRule {
  const known = ['id', 'point', 'module', 'asked', 'reads', 'timeoutSeconds', ...metaFields];
  const fields = toFields(item, 'a rule', known);
  const id = parseText(fields, 'id', 64);
  if (!kebabCase.test(id)) throw new TypeError('expected `id` in kebab-case');
  const what = `rule \`${id}\``;
  return {
    id,
    point: parseWord(fields, 'point', points),
    module: parseModule(fields, what, pluginPackage),
    asked: fields.asked === undefined ? 'always' : parseWord(fields, 'asked', ['always', 'by-policy']),
    ...(fields.reads === undefined
      ? {}
      : { reads: parseList(fields.reads, (reads) => parseText({ reads }, 'reads', 1024), maxReads) }),
    ...parseRuleMeta(fields),
    ...parseSeconds(fields, what),
  };
}

function requireOnce(kind: string, names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new TypeError(`${kind} \`${twice}\` is there twice`);
}
