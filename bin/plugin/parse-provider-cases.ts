import { messageOf } from '../../core/base/errors.ts';
import {
  nameOf,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../core/base/parse-fields.ts';
import { failureKinds, type ReplyEnd } from '../../core/contract/model.ts';
import type { ProviderCase } from '../../plugins/testers/provider-case.ts';

const maxCases = 200;
const maxText = 4 * 1024 * 1024;
const bodies = ['events', 'lines', 'json', 'text'];
const caseFields = ['name', 'model', 'request', 'status', 'headers', ...bodies, 'wire', 'expect'];
const expectFields = ['text', 'reasoning', 'calls', 'usage', 'end', 'failure'];
const ends: readonly ReplyEnd[] = ['stop', 'calls', 'length', 'refused', 'filtered'];

/** The cases of one provider in `cases.json`. Throws for the first fault, with its case and member. */
export function parseProviderCases(given: unknown): readonly ProviderCase[] {
  const names = new Set<string>();
  let count = 0;
  return parseList(
    given ?? [],
    (item) => {
      count += 1;
      let called = `case ${count}`;
      try {
        const name = parseText(toFields(item, 'a case', caseFields), 'name', 200);
        called = `case \`${name}\``;
        if (names.has(name)) throw new TypeError('expected a `name` of its own, got that of another case');
        names.add(name);
        return parseCase(item);
      } catch (fault) {
        throw new TypeError(`${called}: ${messageOf(fault)}`, { cause: fault });
      }
    },
    maxCases,
  );
}

function parseCase(item: unknown): ProviderCase {
  const fields = toFields(item, 'a case', caseFields);
  const has = (field: string) => fields[field] !== undefined;
  const found = bodies.filter((field) => Object.hasOwn(fields, field));
  if (found.length !== 1)
    throw new TypeError(
      `expected one body (${bodies.map((body) => `\`${body}\``).join(', ')}), got ${found.length === 0 ? 'none' : found.join(' and ')}`,
    );
  if (has('model')) parseText(fields, 'model', 200);
  if (has('request')) toFields(fields.request, 'an object `request`');
  if (has('status')) requireStatus(fields.status, 'status', 200);
  const headers = toFields(fields.headers ?? {}, 'an object `headers`');
  for (const header of Object.keys(headers)) parseText(headers, header, 8192, 0);
  if (has('text')) parseText(fields, 'text', maxText, 0);
  if (has('lines')) within('lines', () => parseList(fields.lines, (line) => line));
  if (has('events'))
    within('events', () =>
      parseList(fields.events, (one) => {
        const event = toFields(one, 'an event', ['event', 'data']);
        if (event.event !== undefined) parseText(event, 'event', 200);
        if (event.data === undefined) throw new TypeError('expected `data`, got nothing');
      }),
    );
  const wire = toFields(fields.wire ?? {}, 'an object `wire`', ['path', 'body']);
  if (wire.path !== undefined) within('wire', () => parseText(wire, 'path', 2048));
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
      if (failure.status !== undefined) requireStatus(failure.status, 'status', 100);
      if (failure.retryAfterSeconds !== undefined) parseCount(failure, 'retryAfterSeconds', 0);
    });
}

/** An answer of 1xx is none: the server could not end with it. */
function requireStatus(value: unknown, field: string, least: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > 599)
    throw new TypeError(`expected \`${field}\` to be a number from ${least} to 599, got ${nameOf(value)}`);
}

function within(member: string, parse: () => unknown): void {
  try {
    parse();
  } catch (fault) {
    throw new TypeError(`\`${member}\`: ${messageOf(fault)}`, { cause: fault });
  }
}
