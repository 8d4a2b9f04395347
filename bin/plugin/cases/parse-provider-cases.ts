import {
  type Fields,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/parse-fields.ts';
import { failureKinds, type ModelRequest, type ReplyEnd } from '../../../core/contract/model.ts';
import type { ProviderCase } from '../../../plugins/testers/provider-case.ts';
import { requireAnswer, requireStatus, requireWire } from './case-members.ts';
import { parseCaseList } from './parse-case-list.ts';
import { within } from './within.ts';

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
  return parseCaseList(given, caseFields, parseCase);
}

function parseCase(fields: Fields): ProviderCase {
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
