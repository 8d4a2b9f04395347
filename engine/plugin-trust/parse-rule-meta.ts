import { parseText, parseWord, toFields } from '../../core/base/parse-fields.ts';
import type { DescribedRule, Rule, RuleText } from '../../core/contract/rule.ts';
import { atMember, listAt } from './at-member.ts';

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
export const metaFields: readonly string[] = [...flags, 'judgesArtifact', 'text', 'rows'];

/** What a manifest says of a rule in the same fields as a built-in one. */
export type RuleMeta = Pick<Rule, (typeof flags)[number] | 'judgesArtifact' | 'text'> & {
  readonly rows?: readonly DescribedRule[];
};

const textFields = ['about', 'help', 'level', 'securitySeverity', 'tags'];
const maxSentence = 1000;
const maxTags = 20;
const maxRows = 1000;

/** Reads them; throws on nonsense. */
export function parseRuleMeta(fields: Fields): RuleMeta {
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
