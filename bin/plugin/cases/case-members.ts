import {
  type Fields,
  nameOf,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/parse-fields.ts';
import type { Severity } from '../../../core/contract/finding.ts';
import { findSchemaViolations } from '../../../engine/spec/schema-violations.ts';
import { sampleSpecWith } from '../../../plugins/testers/sample-spec.ts';
import { within } from './within.ts';

const maxText = 4 * 1024 * 1024;
const sides = ['base', 'candidate', 'oldPath', 'oldMode', 'newMode'];
const severities: readonly Severity[] = ['error', 'warning', 'note'];
/** A case may well break a bound of the contract, but not say what no contract can. */
const namesNothing: readonly string[] = ['type', 'enum', 'const', 'additionalProperties'];

/** `files`: by path, the text of each side, with path and modes. */
export function requireFiles({ files = {} }: Fields): void {
  within('files', () => {
    for (const [path, file] of Object.entries(toFields(files, 'an object')))
      within(path, () => {
        const given = toFields(file, 'the sides of a file', sides);
        for (const side of Object.keys(given)) parseText(given, side, maxText, 0);
      });
  });
}

/** `spec`: members of a contract, each of its type. */
export function requireSpec({ spec = {} }: Fields): void {
  const [found] = findSchemaViolations(sampleSpecWith(toFields(spec, 'an object `spec`'))).filter(
    ({ keyword }) => namesNothing.includes(keyword),
  );
  if (found === undefined) return;
  const expected =
    found.keyword === 'additionalProperties'
      ? `no field \`${String(found.said).slice(0, 128)}\``
      : `${found.keyword} ${JSON.stringify(found.said)}`;
  throw new TypeError(`\`spec${found.at}\`: expected ${expected}, as in a contract`);
}

/** `options`, an object that the plugin is opened with. */
export function optionsOf({ options = {} }: Fields): Fields {
  return toFields(options, 'an object `options`');
}

/** `wire`: path and body of a question. */
export function requireWire({ wire = {} }: Fields): void {
  const fields = toFields(wire, 'an object `wire`', ['path', 'body']);
  if (fields.path !== undefined) within('wire', () => parseText(fields, 'path', 2048));
}

/** `status`, `headers` and `text` of an answer. An answer of 1xx is none: the server could not end with it. */
export function requireAnswer(fields: Fields): void {
  if (fields.status !== undefined) requireStatus(fields.status, 200);
  const headers = toFields(fields.headers ?? {}, 'an object `headers`');
  within('headers', () => {
    for (const header of Object.keys(headers)) parseText(headers, header, 8192, 0);
  });
  if (fields.text !== undefined) parseText(fields, 'text', maxText, 0);
}

export function requireStatus(value: unknown, least: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > 599)
    throw new TypeError(`expected \`status\` to be a number from ${least} to 599, got ${nameOf(value)}`);
}

/** A list of findings, with no members but those of a finding and `more`. */
export function requireFindings(fields: Fields, member: string, more: readonly string[]): void {
  const known = ['severity', 'message', 'path', 'line', 'column', ...more];
  within(member, () =>
    parseList(fields[member], (one) => {
      const finding = toFields(one, 'a finding', known);
      if (finding.severity !== undefined) parseWord(finding, 'severity', severities);
      for (const field of ['rule', 'message', 'path', 'stage', 'check'])
        if (finding[field] !== undefined) parseText(finding, field, 4096);
      for (const field of ['line', 'column']) if (finding[field] !== undefined) parseCount(finding, field, 1);
      if (finding.detail !== undefined) toFields(finding.detail, 'an object `detail`');
    }),
  );
}
