import { messageOf } from '../../../core/base/errors.ts';
import {
  type Fields,
  nameOf,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/json-pointer.ts';
import type { Severity } from '../../../core/interfaces/finding.ts';
import type { TrustTier } from '../../../core/interfaces/privacy.ts';
import { stageNames } from '../../../core/interfaces/stage.ts';
import type { ArtifactCase } from '../../../plugins/testers/artifact-tester.ts';
import type { EvidenceCase } from '../../../plugins/testers/evidence-tester.ts';
import type { GateCase, GateCases } from '../../../plugins/testers/gate-tester.ts';
import { sampleSpecWith } from '../../../plugins/testers/run-cases.ts';
import { findSchemaViolations } from '../../../spec/schema-violations.ts';

const maxText = 4 * 1024 * 1024;
const sides = ['base', 'candidate', 'oldPath', 'oldMode', 'newMode'];
const severities: readonly Severity[] = ['error', 'warning', 'note'];
/** A case may exceed the IntentSpec's limits, but it may not hold a field or value that the schema does not know. */
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

/** Validates `spec`: fields of a spec, each of the right type. */
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

/** The cases of one artifact in `cases.json`. Throws for the first fault, with its case and member. */
export function parseArtifactCases(given: unknown): readonly ArtifactCase[] {
  return parseCaseList(given, ['files', 'spec', 'stages', 'options', 'expect'], parseCase);
}

function parseCase(fields: Fields): ArtifactCase {
  requireFiles(fields);
  requireSpec(fields);
  optionsOf(fields);
  if (fields.stages !== undefined)
    within('stages', () =>
      parseList(fields.stages, (one) => {
        const stage = toFields(one, 'a stage');
        parseWord(stage, 'stage', stageNames);
        for (const list of ['checks', 'findings', 'artifacts'])
          within(list, () => parseList(stage[list], (item) => toFields(item, 'an object')));
      }),
    );
  within('expect', () => {
    const expect = toFields(fields.expect, 'an object', ['includes', 'json', 'unmade']);
    if (expect.includes !== undefined)
      within('includes', () => parseList(expect.includes, (text) => parseText({ text }, 'text', 4096)));
    if (expect.unmade !== undefined) parseText(expect, 'unmade', 1000);
    if (Object.keys(expect).length === 0)
      throw new TypeError('expected `includes`, `json` or `unmade`, got none');
  });
  return fields as unknown as ArtifactCase;
}

const maxCases = 500;

/**
 * Parses cases with `parse`. Each has a unique name and only `known` members. Absent: no cases. Throws for the first
 * error, naming its case.
 */
export function parseCaseList<T>(
  given: unknown,
  known: readonly string[],
  parse: (fields: Fields) => T,
): readonly T[] {
  const names = new Set<string>();
  let count = 0;
  return parseList(
    given ?? [],
    (item) => {
      count += 1;
      let called = `case ${count}`;
      try {
        const fields = toFields(item, 'a case', ['name', ...known]);
        const name = parseText(fields, 'name', 200);
        called = `case \`${name}\``;
        if (names.has(name)) throw new TypeError('expected a `name` of its own, got that of another case');
        names.add(name);
        return parse(fields);
      } catch (fault) {
        throw new TypeError(`${called}: ${messageOf(fault)}`, { cause: fault });
      }
    },
    maxCases,
  );
}

const tiers: readonly TrustTier[] = ['repo', 'standards', 'vendor-doc', 'web', 'user-provided'];

/** The cases of one evidence policy in `cases.json`. Throws for the first fault, with its case and member. */
export function parseEvidenceCases(given: unknown): readonly EvidenceCase[] {
  return parseCaseList(given, ['source', 'soFar', 'options', 'expect'], parseEvidenceCase);
}

function parseEvidenceCase(fields: Fields): EvidenceCase {
  if (fields.source !== undefined && fields.soFar !== undefined)
    throw new TypeError('expected one of `source` and `soFar`, got both');
  within('source', () => {
    const source = toFields(fields.source ?? {}, 'an object', ['name', 'url', 'trustTier', 'isAllowedHost']);
    for (const field of ['name', 'url']) if (source[field] !== undefined) parseText(source, field, 4096);
    if (source.trustTier !== undefined) parseWord(source, 'trustTier', tiers);
    const { isAllowedHost = false } = source;
    if (typeof isAllowedHost !== 'boolean')
      throw new TypeError(`expected \`isAllowedHost\` to be true or false, got ${nameOf(isAllowedHost)}`);
  });
  if (fields.soFar !== undefined)
    within('soFar', () =>
      parseCount(toFields(fields.soFar, 'an object', ['repositoryUses']), 'repositoryUses', 0),
    );
  optionsOf(fields);
  within('expect', () => {
    const expect = toFields(fields.expect, 'an object', ['refuse', 'order']);
    if (expect.refuse !== undefined) parseText(expect, 'refuse', 1000);
    if (expect.order !== undefined) parseCount(expect, 'order', 0);
  });
  return fields as unknown as EvidenceCase;
}

const caseFields = [
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

/** The cases of one rule in `cases.json`. Throws for the first fault, with its group, case and member. */
export function parseGateCases(given: unknown): GateCases {
  const fields = toFields(given, 'an object', ['valid', 'invalid']);
  const group = (name: 'valid' | 'invalid') =>
    within(name, () => parseCaseList(fields[name], caseFields, parseGateCase));
  return { valid: group('valid'), invalid: group('invalid') };
}

function parseGateCase(fields: Fields): GateCase {
  requireFiles(fields);
  requireSpec(fields);
  optionsOf(fields);
  if (fields.args !== undefined)
    within('args', () => parseList(fields.args, (args) => parseText({ args }, 'args', 4096, 0), 256));
  if (fields.stage !== undefined)
    within('stage', () => {
      const stage = toFields(fields.stage, 'an object', ['name', 'checks']);
      parseWord(stage, 'name', stageNames);
      within('checks', () => parseList(stage.checks, (one) => toFields(one, 'a check')));
    });
  for (const list of ['artifacts', 'approvals'])
    if (fields[list] !== undefined)
      within(list, () => parseList(fields[list], (one) => toFields(one, 'an object')));
  within('approvalGroups', () => {
    const groups = toFields(fields.approvalGroups ?? {}, 'an object');
    for (const [name, people] of Object.entries(groups))
      within(name, () => parseList(people, (one) => parseText({ one }, 'one', 4096)));
  });
  if (fields.expect !== undefined) requireFindings(fields, 'expect', ['rule', 'detail']);
  return fields as unknown as GateCase;
}

/** Reads a member; errors name the member. */
export function within<T>(member: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    throw new TypeError(`\`${member}\`: ${messageOf(fault)}`, { cause: fault });
  }
}
