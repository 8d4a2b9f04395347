/* Reads the manifest of a plugin: the object `writ` of its `package.json`. */
import { quoted } from '../../core/base/printable.ts';
import {
  anything,
  flag,
  list,
  mapOf,
  object,
  oneOf,
  parse,
  type TypeOf,
  text,
  where,
  withDefault,
} from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import {
  faultAt,
  kebabCase,
  kebabName,
  type ManifestOption,
  maxName,
  moduleOf,
  needMembers,
  optionEntry,
  type PluginNeeds,
  reads,
  timeoutSeconds,
} from './manifest-parts.ts';
import { type ManifestParts, type PartField, partFields, partMembers } from './part-kinds.ts';
import { opensHost } from './plugin-access.ts';
import { invalidFile, invalidPackage, type PluginPackage } from './plugin-package.ts';

/** A plugin's description in `package.json`, under `writ`: data only, so that reading it runs no plugin code. */
export interface PluginManifest extends ManifestParts {
  /** Kebab-case: `writ.name`, else the package's name without its scope. */
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** Member `description` of `package.json`, if it is one line of at most 1000 characters. */
  readonly description?: string;
  readonly needs: PluginNeeds;
  /** Options that its `[[plugins]]` entry may set for its parts; rules do not receive them. */
  readonly options: readonly ManifestOption[];
  readonly rules: readonly ManifestRule[];
}

const maxRules = 64;
const maxOptions = 64;
const maxRows = 1000;

const flags = [
  'readsUnchanged',
  'readsArtifacts',
  'readsJudge',
  'readsStanding',
  'judgesWhole',
  'judgesChange',
  'findsSecrets',
] as const satisfies readonly (keyof Rule)[];

const sentence = text(1000);
const ruleText = { about: sentence, tags: withDefault(list(text(64), 20), []) };
const moreRuleText = {
  help: sentence,
  level: oneOf('error', 'warning'),
  securitySeverity: where(text(4), '`securitySeverity` from "0.0" to "10.0"', (score) =>
    /^(?:10\.0|\d\.\d)$/.test(score),
  ),
};

/**
 * A rule as the manifest declares it: members that a built-in rule has, as data. Not `scan`: a scan loads no plugin,
 * and a field without effect is refused.
 */
const rule = (pluginPackage: PluginPackage) =>
  object(
    'a rule',
    {
      id: kebabName('`id`'),
      point: oneOf('patch', ...stageNames, 'every-stage'),
      module: moduleOf(pluginPackage),
      /** `by-policy`: only a `policy` check of the spec runs it. */
      asked: withDefault(oneOf('always', 'by-policy'), 'always'),
    },
    {
      reads,
      timeoutSeconds,
      ...(Object.fromEntries(flags.map((name) => [name, flag])) as Record<
        (typeof flags)[number],
        typeof flag
      >),
      judgesArtifact: text(64),
      text: object('an object `text`', ruleText, moreRuleText),
      rows: list(object('a row', { id: text(64), ...ruleText }, moreRuleText), maxRows),
    },
  );
type ManifestRule = TypeOf<ReturnType<typeof rule>>;

const manifest = (pluginPackage: PluginPackage) =>
  object(
    'an object `writ`',
    {
      api: where(anything, 'to be 1', (api) => api === 1),
      ...needMembers,
      options: withDefault(list(optionEntry, maxOptions), []),
      rules: withDefault(list(rule(pluginPackage), maxRules), []),
      ...partMembers(pluginPackage),
    },
    { name: text(maxName) },
  );

const packageFile = mapOf('an object', anything);

/** Reads and validates the manifest. Throws PLUGIN_INVALID with the location of the fault. */
export function readManifest(pluginPackage: PluginPackage, place: string): PluginManifest {
  const bytes = pluginPackage.files.get('package.json');
  if (bytes === undefined) throw invalidPackage(place, 'it has no `package.json`');
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID', maxBytes: 256 * 1024, maxDepth: 16 });
    const { name, version, description, writ } = parse(packageFile, value);
    const whole = object('an object', { name: text(214), version: text(128), writ: manifest(pluginPackage) });
    const { writ: own, ...named } = parse(whole, { name, version, writ });
    const { api: _, hosts, secrets, files, ...members } = own;
    requireConsistent(own);
    const ownName = own.name ?? named.name.replace(/^@[^/]*\//, '');
    if (!kebabCase.test(ownName) || ownName.length > maxName)
      throw faultAt(
        ['writ'],
        `expected \`name\` (absent: that of the package, without its scope) in kebab-case, at most ${maxName} letters, got ${quoted(ownName)}`,
      );
    const needs = { hosts, secrets, files };
    const isLine = typeof description === 'string' && /^[^\p{Cc}]{1,1000}$/u.test(description);
    return {
      ...members,
      name: ownName,
      packageName: named.name,
      version: named.version,
      ...(isLine ? { description } : {}),
      needs,
    };
  } catch (cause) {
    throw invalidFile(place, 'package.json', cause);
  }
}

/** Names are unique in each list, and what a provider uses is declared. */
function requireConsistent(own: TypeOf<ReturnType<typeof manifest>>): void {
  const { options, rules, hosts, secrets } = own;
  const lists = ['rules', ...Object.values(partFields)] as const;
  if (lists.every((field) => own[field].length === 0))
    throw faultAt(
      ['writ'],
      `expected at least one entry of ${lists.map((field) => `\`${field}\``).join(', ')}`,
    );
  requireOnce(
    'rules',
    rules.map(({ id }) => id),
  );
  const named: readonly (readonly [string, readonly { readonly name: string }[]])[] = [
    ['options', options],
    ...Object.values(partFields).map((field) => [field, own[field]] as const),
  ];
  for (const [field, list] of named)
    requireOnce(
      field,
      list.map(({ name }) => name),
    );
  for (const [at, { name, base, keys }] of own.providers.entries()) {
    const stray = keys.find((key) => !secrets.includes(key));
    const fault = !opensHost(hosts, base)
      ? 'expected the host of `base` among `hosts`'
      : stray !== undefined && `expected its key \`${stray}\` among \`secrets\``;
    if (fault) throw faultAt(['writ', 'providers', at], `provider \`${name}\`: ${fault}`);
  }
}

function requireOnce(field: string, names: readonly string[]): void {
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice >= 0) throw faultAt(['writ', field, twice], `\`${names[twice]}\` is there twice`);
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
