import { messageOf } from '../../core/base/errors.ts';
import { parseList, parseText, toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { invalidPackage, type PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import type { GateCase, GateCases } from '../../plugins/testers/gate-tester.ts';

/** The file of a plugin that `writ plugin test` and the plugin's own test read. */
export const casesFile = 'cases.json';

const maxCases = 500;
const caseFields = [
  'name',
  'files',
  'spec',
  'args',
  'options',
  'artifacts',
  'stage',
  'approvals',
  'approvalGroups',
  'expect',
];
const sideFields = ['base', 'candidate', 'oldPath', 'oldMode', 'newMode'];

/** Gate cases by rule id, none of `others`; a plugin without the file, or with nonsense in it, is PLUGIN_INVALID. */
export function readCases(
  { files }: PluginPackage,
  place: string,
  others: readonly string[],
): ReadonlyMap<string, GateCases> {
  const bytes = files.get(casesFile);
  if (bytes === undefined) throw invalidPackage(place, `it has no \`${casesFile}\` to be tested with`);
  try {
    const { value } = parseStrictJson(bytes, { code: 'PLUGIN_INVALID' });
    return new Map(
      Object.entries(toFields(value, 'an object')).flatMap(([id, cases]) => {
        if (others.includes(id)) return [];
        const fields = toFields(cases, 'an object', ['valid', 'invalid']);
        const read = (group: unknown) => parseList(group, parseCase, maxCases);
        return [[id, { valid: read(fields.valid), invalid: read(fields.invalid) }] as const];
      }),
    );
  } catch (cause) {
    throw invalidPackage(place, `\`${casesFile}\`: ${messageOf(cause)}`, cause);
  }
}

/** What a case holds beyond this is judged by what it is given to. */
function parseCase(item: unknown): GateCase {
  const fields = toFields(item, 'a case', caseFields);
  parseText(fields, 'name', 500);
  for (const file of Object.values(toFields(fields.files ?? {}, 'an object `files`'))) {
    const sides = toFields(file, 'the sides of a file', sideFields);
    for (const side of Object.keys(sides)) parseText(sides, side, 4 * 1024 * 1024, 0);
  }
  if (fields.args !== undefined) parseList(fields.args, (args) => parseText({ args }, 'args', 4096, 0), 256);
  if (fields.expect !== undefined) parseList(fields.expect, (one) => toFields(one, 'an expected finding'));
  for (const field of ['spec', 'options', 'approvalGroups'])
    if (fields[field] !== undefined) toFields(fields[field], `an object \`${field}\``);
  return fields as unknown as GateCase;
}
