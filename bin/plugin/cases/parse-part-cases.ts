import {
  type Fields,
  nameOf,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/json-pointer.ts';
import type { ArtifactFacts, CheckFacts } from '../../../core/interfaces/check.ts';
import { failureKinds, type ModelRequest, type ReplyEnd } from '../../../core/interfaces/model.ts';
import { stageNames } from '../../../core/interfaces/stage.ts';
import type { LogWire } from '../../../plugins/testers/log-tester.ts';
import type { ProviderCase } from '../../../plugins/testers/provider-tester.ts';
import type { StageCheckCase } from '../../../plugins/testers/stage-check-tester.ts';
import {
  optionsOf,
  parseCaseList,
  requireAnswer,
  requireFiles,
  requireFindings,
  requireSpec,
  requireStatus,
  requireWire,
  within,
} from './parse-cases.ts';

/** A log's entry in `cases.json`: its wire format, and the options that direct the plugin to its declared host. */
interface LogCase {
  readonly wire: LogWire;
  readonly options: Fields;
}

/** Words of an answer: of what is appended. */
const appended = ['$index', '$size', '$root', '$path', '$checkpoint', '$rootHex', '$pathHex'];

/**
 * Parses the entry, including `consistency` if the manifest declares it. Throws for the first error, naming its
 * member.
 */
export function parseLogCase(name: string, given: unknown, isProven = false): LogCase {
  const fields = toFields(given, `an object \`${name}\``, [
    'append',
    'size',
    ...(isProven ? ['consistency'] : []),
    'options',
  ]);
  return {
    wire: {
      append: within('append', () => {
        const append = toFields(fields.append, 'an object', ['path', 'field', 'json']);
        const field = append.field === undefined ? {} : { field: parseText(append, 'field', 64) };
        return { path: pathOf(append), ...field, json: templateOf(append, appended) };
      }),
      size: within('size', () => {
        const size = toFields(fields.size, 'an object', ['path', 'json']);
        return { path: pathOf(size), json: templateOf(size, ['$size']) };
      }),
      ...(isProven && { consistency: within('consistency', () => parseGrowth(fields.consistency)) }),
    },
    options: optionsOf(fields),
  };
}

/** The path must contain both sizes, `$from` and `$to`. */
function parseGrowth(given: unknown): LogWire['size'] {
  const fields = toFields(given, 'an object, as the manifest says `consistency`', ['path', 'json']);
  const path = pathOf(fields);
  if (!path.includes('$from') || !path.includes('$to'))
    throw new TypeError('expected `path` to hold `$from` and `$to`');
  return { path, json: templateOf(fields, ['$path', '$pathHex']) };
}

function pathOf(fields: Fields): string {
  const path = parseText(fields, 'path', 2048);
  if (!path.startsWith('/')) throw new TypeError('expected `path` to begin with `/`');
  return path;
}

/**
 * Returns a response template that contains only `words` as placeholders. Without a placeholder, every response would
 * be the same.
 */
function templateOf(fields: Fields, words: readonly string[]): unknown {
  const found = within('json', () => wordsIn(fields.json));
  const odd = found.find((word) => !words.includes(word));
  if (odd !== undefined)
    throw new TypeError(`\`json\`: expected one of ${words.join(', ')}, got \`${odd.slice(0, 40)}\``);
  if (found.length === 0)
    throw new TypeError(`\`json\`: expected at least one of ${words.join(', ')}, got none`);
  return fields.json;
}

function wordsIn(template: unknown): readonly string[] {
  if (typeof template === 'string') return template.startsWith('$') ? [template] : [];
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(wordsIn);
}

const maxText = 4 * 1024 * 1024;
const bodies = ['events', 'lines', 'json', 'text'];
const caseFields = ['model', 'request', 'status', 'headers', ...bodies, 'wire', 'expect'];
const requestFields = [
  'model',
  'system',
  'messages',
  'tools',
  'maxOutputTokens',
  'temperature',
  'cacheKey',
] satisfies readonly (keyof ModelRequest)[];
const expectFields = ['text', 'reasoning', 'calls', 'usage', 'end', 'failure'];
const ends: readonly ReplyEnd[] = ['stop', 'calls', 'length', 'refused', 'filtered'];

/** The cases of one provider in `cases.json`. Throws for the first fault, with its case and member. */
export function parseProviderCases(given: unknown): readonly ProviderCase[] {
  return parseCaseList(given, caseFields, parseProviderCase);
}

function parseProviderCase(fields: Fields): ProviderCase {
  const has = (field: string) => fields[field] !== undefined;
  const found = bodies.filter((field) => Object.hasOwn(fields, field));
  if (found.length !== 1)
    throw new TypeError(
      `expected one body (${bodies.map((body) => `\`${body}\``).join(', ')}), got ${found.length === 0 ? 'none' : found.join(' and ')}`,
    );
  if (has('model')) parseText(fields, 'model', 200);
  if (has('request')) toFields(fields.request, 'an object `request`', requestFields);
  requireAnswer(fields);
  if (has('lines')) within('lines', () => parseList(fields.lines, (line) => line));
  if (has('events'))
    within('events', () =>
      parseList(fields.events, (one) => {
        const event = toFields(one, 'an event', ['event', 'data']);
        if (event.event !== undefined) parseText(event, 'event', 200);
        if (event.data === undefined) throw new TypeError('expected `data`, got nothing');
      }),
    );
  requireWire(fields);
  within('expect', () => parseExpect(fields.expect));
  return fields as unknown as ProviderCase;
}

function parseExpect(given: unknown): void {
  const expect = toFields(given, 'an object', expectFields);
  for (const field of ['text', 'reasoning'])
    if (expect[field] !== undefined) parseText(expect, field, maxText, 0);
  if (expect.end !== undefined) parseWord(expect, 'end', ends);
  if (expect.calls !== undefined)
    within('calls', () =>
      parseList(expect.calls, (one) => {
        const call = toFields(one, 'a call', ['id', 'name', 'arguments']);
        for (const field of ['id', 'name', 'arguments']) parseText(call, field, maxText, 0);
      }),
    );
  if (expect.usage !== undefined)
    within('usage', () => {
      const known = ['input', 'output', 'cachedInput', 'reasoning'];
      const usage = toFields(expect.usage, 'an object', known);
      for (const field of new Set(['input', 'output', ...Object.keys(usage)])) parseCount(usage, field, 0);
    });
  if (expect.failure !== undefined)
    within('failure', () => {
      const failure = toFields(expect.failure, 'an object', ['kind', 'status', 'retryAfterSeconds']);
      parseWord(failure, 'kind', failureKinds);
      if (failure.status !== undefined) requireStatus(failure.status, 100);
      if (failure.retryAfterSeconds !== undefined) parseCount(failure, 'retryAfterSeconds', 0);
    });
}

/** A stage check's entry in `cases.json`: its cases, and the options that direct the plugin to its declared host. */
interface StageCheckCases {
  readonly options: Fields;
  readonly cases: readonly StageCheckCase[];
}

type Kind = 'text' | 'number' | 'truth';

const ofCheck: Readonly<Record<Exclude<keyof CheckFacts, 'tests'>, Kind>> = {
  id: 'text',
  kind: 'text',
  stage: 'text',
  status: 'text',
  required: 'truth',
  fromPolicy: 'truth',
  tolerated: 'truth',
  command: 'text',
  expectedExitCode: 'number',
  exitCode: 'number',
  timedOut: 'truth',
};
const ofArtifact: Readonly<Record<keyof ArtifactFacts, Kind>> = {
  name: 'text',
  stage: 'text',
  checkId: 'text',
  sha256: 'text',
  sizeBytes: 'number',
  contentType: 'text',
};
const stageCaseFields = [
  'stage',
  'spec',
  'files',
  'checks',
  'findings',
  'artifacts',
  'answer',
  'wire',
  'expect',
];

/** Reads them; throws for the first fault, with its case and member. */
export function parseStageCheckCases(name: string, given: unknown): StageCheckCases {
  const fields = toFields(given ?? {}, `an object \`${name}\``, ['options', 'cases']);
  return {
    options: optionsOf(fields),
    cases: parseCaseList(fields.cases, stageCaseFields, parseStageCheckCase),
  };
}

function parseStageCheckCase(fields: Fields): StageCheckCase {
  if (fields.stage !== undefined) parseWord(fields, 'stage', stageNames);
  requireSpec(fields);
  requireFiles(fields);
  requireFacts(fields, 'checks', { ...ofCheck, tests: 'counts' });
  if (fields.findings !== undefined) requireFindings(fields, 'findings', ['rule', 'stage', 'check']);
  requireFacts(fields, 'artifacts', ofArtifact);
  if (fields.answer !== undefined)
    within('answer', () => {
      requireAnswer(toFields(fields.answer, 'an object', ['status', 'headers', 'json', 'text']));
    });
  requireWire(fields);
  requireFindings(fields, 'expect', ['detail']);
  return fields as unknown as StageCheckCase;
}

/** Each of a list holds no members but these, each of its kind. */
function requireFacts(
  fields: Fields,
  member: string,
  kinds: Readonly<Record<string, Kind | 'counts'>>,
): void {
  if (fields[member] === undefined) return;
  within(member, () =>
    parseList(fields[member], (one) => {
      const facts = toFields(one, 'an object', Object.keys(kinds));
      for (const [field, kind] of Object.entries(kinds))
        if (facts[field] !== undefined) requireKind(facts, field, kind);
    }),
  );
}

function requireKind(facts: Fields, field: string, kind: Kind | 'counts'): void {
  const value = facts[field];
  if (kind === 'text') parseText(facts, field, 4096);
  else if (kind === 'counts') {
    const names = ['passed', 'failed', 'skipped'];
    const counts = toFields(value, `an object \`${field}\``, names);
    for (const name of names) within(field, () => parseCount(counts, name, 0));
  } else if (typeof value !== (kind === 'truth' ? 'boolean' : 'number'))
    throw new TypeError(
      `expected \`${field}\` to be ${kind === 'truth' ? 'true or false' : 'a number'}, got ${nameOf(value)}`,
    );
}
