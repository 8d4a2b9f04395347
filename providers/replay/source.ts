/* The provider that replays a recording. */
import { opendirSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonicalize } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { readPlainFile } from '../../core/base/files.ts';
import type { HttpStreamer, OpenAnswer, StreamQuestion } from '../../core/base/http-question.ts';
import { appendPointer } from '../../core/base/json-pointer.ts';
import { printable } from '../../core/base/printable.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import { builtInProviders } from '../built-in-providers.ts';
import { toRecorded } from '../wire/record-traffic.ts';
import {
  fileName,
  maskValues,
  maxExchanges,
  maxTrafficBytes,
  type OpenedProvider,
  parseExchange,
  type RecordedAnswer,
  type RecordedExchange,
  type RecordedQuestion,
  trafficFormat,
} from '../wire/traffic-file.ts';
import { objectIn } from '../wire/wire-format.ts';

/** Recordings by their directories: `replay:DIR`. */
export const recordings: ProviderSource = {
  title: 'a recording',
  keys: [],
  base: 'http://127.0.0.1',
  defaultModel: '',
  flags: [],
  at: (directory) => (directory === '' ? Promise.reject(unnamed()) : replaySource(directory)),
  open: () => Promise.reject(unnamed()),
};

function unnamed(): WritError {
  return new WritError('PROVIDER_OPTION', {
    message: 'the directory of the recording is missing',
    detail: { provider: replayName },
    hints: ['name it after a colon: `--provider replay:DIR`'],
  });
}

/**
 * Opens the provider of a recording (`--provider replay:DIR`) with its recorded settings. It answers from the
 * recording: no key, no network, no flags. All providers opened from it share one position in the recording. Throws
 * RECORDING_MALFORMED.
 */
export async function replaySource(
  directory: string,
  secrets: readonly string[] = [],
): Promise<ProviderSource> {
  const { opened, stream } = replayTraffic(directory, secrets);
  const { provider, model, base, isOtherBase, flags } = opened;
  const load = Object.hasOwn(builtInProviders, provider) ? builtInProviders[provider] : undefined;
  if (load === undefined) throw foreignRecording(directory, 'a provider that is not built in');
  const source = await load();
  if (!areFlagsOf(source, opened))
    throw foreignRecording(directory, `flags that \`${provider}\` does not have`);
  return {
    title: `${source.title}, recorded`,
    keys: [],
    base,
    defaultModel: model,
    flags: [],
    replays: true,
    open: ({ clock, model: asked }) =>
      source.open({
        base,
        isOtherBase,
        flags,
        stream,
        clock,
        ...(asked === undefined ? {} : { model: asked }),
      }),
  };
}

function areFlagsOf({ flags: known, settings = {} }: ProviderSource, { flags }: OpenedProvider): boolean {
  return Object.entries(flags).every(([name, value]) => {
    const flag = known.find((one) => one.name === name);
    const values = flag?.values ?? (Object.hasOwn(settings, name) ? settings[name] : undefined);
    return values !== undefined && (values.length === 0 || values.includes(value));
  });
}

function foreignRecording(directory: string, found: string): WritError {
  return new WritError('RECORDING_MALFORMED', {
    message: `expected \`${trafficFormat}\` of a built-in provider, found ${found}`,
    detail: { path: directory, found },
    hints: ['record it again with `--record DIR`; `writ help model-traffic` describes the format'],
  });
}

/** Its name in slot `provider`; a colon and a directory follow. */
export const replayName = 'replay';

/** Returns the directory in the name of a provider; `undefined` if the name is not a recording. */
export function recordingOf(provider: string): string | undefined {
  const [kind, ...rest] = provider.split(':');
  return kind === replayName ? rest.join(':') : undefined;
}

interface TrafficReplay {
  readonly opened: OpenedProvider;
  readonly stream: HttpStreamer;
}

/** Concurrent tasks send requests in any order; this is the most that one is ahead of the slowest. */
const maxAhead = 32;

/**
 * Answers from a recording. A request gets the unchanged answer of the first unplayed exchange with its path and
 * body, among the next 32. If there is none, RECORDING_DIFFERS names the first difference from the next exchange.
 * RECORDING_ENDED reports that all are played, RECORDING_MALFORMED that the directory is not a recording. `secrets`
 * are masked in requests as in the recording; durations of commands are not compared.
 */
export function replayTraffic(directory: string, secrets: readonly string[] = []): TrafficReplay {
  const place = resolve(directory);
  const total = countExchanges(place);
  const mask = maskValues(secrets);
  const { opened } = readExchange(place, 1);
  const openedThen = canonicalize(opened);
  const played = new Set<number>();
  let next = 1;
  return {
    opened,
    async stream(question) {
      question.signal?.throwIfAborted();
      while (played.has(next)) next += 1;
      if (next > total)
        throw new WritError('RECORDING_ENDED', {
          message: `the recording has ${total} questions, and this run asks question ${total + 1}`,
          detail: { path: place, exchanges: total, number: total + 1 },
        });
      const found = comparedOf(toRecorded(question, mask));
      let difference: Difference | undefined;
      for (let number = next; number <= Math.min(total, next + maxAhead - 1); number += 1) {
        if (played.has(number)) continue;
        const { opened: openedNow, request, answer } = readExchange(place, number);
        if (canonicalize(openedNow) !== openedThen)
          throw malformed(place, number, new TypeError('the provider is another one than in the first file'));
        const odd = firstDifference(comparedOf(request), found, '/request');
        difference ??= odd;
        if (odd !== undefined) continue;
        played.add(number);
        return toAnswer(answer, question);
      }
      throw differs(place, next, difference);
    },
  };
}

function comparedOf({ headers, ...compared }: RecordedQuestion): unknown {
  return withoutMachineText(compared);
}

function differs(place: string, number: number, difference: Difference | undefined): WritError {
  const { pointer = '', expected = '', found = '' } = difference ?? {};
  return new WritError('RECORDING_DIFFERS', {
    message: `question ${number} to the model differs from the recorded one at \`${printable(pointer)}\` expected ${printable(expected)}, found ${printable(found)}`,
    detail: { path: place, number, pointer, expected, found },
  });
}

function toAnswer(answer: RecordedAnswer, question: StreamQuestion): OpenAnswer {
  if ('failed' in answer) throw networkFailed(question, answer.found, answer.failed);
  const { status, headers, pieces, end, found = '' } = answer;
  const read = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      question.signal?.throwIfAborted();
      yield typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.base64, 'base64');
    }
    question.signal?.throwIfAborted();
    if (end !== 'whole') throw networkFailed(question, found, end);
  };
  return { status, headers, body: read(), async [Symbol.asyncDispose]() {} };
}

/**
 * The same error as the network client's (`core/base/net.ts`); an answer that its reader left ends where reading
 * stopped.
 */
function networkFailed({ url }: StreamQuestion, found: string, reason: string): WritError {
  const { origin, pathname: path } = new URL(url);
  const told = found === '' ? 'the recording of the answer ends here' : printable(found);
  return new WritError('NETWORK_FAILED', {
    message: `\`${origin}${path}\` did not answer: ${told}`,
    detail: { origin, path, found: told, reason: reason === 'left' ? 'dropped' : reason },
  });
}

/** Returns the number of exchanges in a directory. Throws if it contains other files, or if an exchange is missing. */
function countExchanges(place: string): number {
  const names: string[] = [];
  try {
    const entries = opendirSync(place);
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        if (names.push(entry.name) > maxExchanges) throw new RangeError('there are too many files in it');
      }
    } finally {
      entries.closeSync();
    }
  } catch (cause) {
    throw malformed(place, undefined, cause);
  }
  const odd = names.sort().findIndex((name, index) => name !== fileName(index + 1));
  if (odd >= 0 || names.length === 0) {
    const [expected, found] = [fileName(odd + 1 || 1), names[odd] ?? 'nothing'];
    throw malformed(place, undefined, new Error(`expected \`${expected}\`, found \`${found}\``));
  }
  return names.length;
}

function readExchange(place: string, number: number): RecordedExchange {
  try {
    const bytes = readPlainFile({ root: place, parts: [fileName(number)] }, maxTrafficBytes);
    if (bytes === undefined) throw new Error('it is gone');
    return parseExchange(bytes, number);
  } catch (cause) {
    throw malformed(place, number, cause);
  }
}

function malformed(place: string, number: number | undefined, cause: unknown): WritError {
  const file = number === undefined ? undefined : fileName(number);
  const found = printable(messageOf(cause));
  return new WritError('RECORDING_MALFORMED', {
    message: `\`${file ?? place}\` is not a recording of model traffic: ${found}`,
    detail: { path: place, ...(file === undefined ? {} : { file }), found },
    hints: ['record it again with `--record DIR`; `writ help model-traffic` describes the format'],
    cause,
  });
}

/** Where two JSON values differ first, and how; `undefined` for what one of them has not. */
interface Difference {
  readonly pointer: string;
  readonly expected: string;
  readonly found: string;
}

/** Compares in canonical order: names sorted, lists from their start. Returns `undefined` if the values are equal. */
export function firstDifference(expected: unknown, found: unknown, pointer = ''): Difference | undefined {
  if (Array.isArray(expected) && Array.isArray(found)) {
    for (let at = 0; at < Math.max(expected.length, found.length); at += 1) {
      const inside = memberDifference(expected, found, at, pointer);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }
  const [wanted, given] = [objectIn(expected), objectIn(found)];
  if (wanted !== undefined && given !== undefined) {
    for (const name of [...new Set([...Object.keys(wanted), ...Object.keys(given)])].sort()) {
      const inside = memberDifference(wanted, given, name, pointer);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }
  if (expected === found) return undefined;
  const from = typeof expected === 'string' && typeof found === 'string' ? firstOdd(expected, found) : 0;
  return { pointer, expected: clipped(expected, from), found: clipped(found, from) };
}

function memberDifference(
  expected: object,
  found: object,
  name: string | number,
  pointer: string,
): Difference | undefined {
  const at = appendPointer(pointer, name);
  const [wanted, given] = [memberOf(expected, name), memberOf(found, name)];
  if (wanted !== undefined && given !== undefined) return firstDifference(wanted, given, at);
  if (wanted === undefined && given === undefined) return undefined;
  return { pointer: at, expected: clipped(wanted, 0), found: clipped(given, 0) };
}

function memberOf(value: object, name: string | number): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function firstOdd(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** JSON, or the surroundings of the place in a long text; at most 82 characters. */
function clipped(value: unknown, from: number): string {
  if (value === undefined) return 'nothing';
  const start = typeof value === 'string' && from > 40 ? from - 20 : 0;
  const told = JSON.stringify(
    start > 0 && typeof value === 'string' ? value.slice(start, start + 100) : value,
  );
  return `${start > 0 ? '…' : ''}${told.slice(0, 80)}${told.length > 80 ? '…' : ''}`;
}

/** Measured times: with a fraction, or labelled as a duration. Numbers that a person writes are round. */
const measured = /\bduration_ms(?:: ?| )\d{1,16}(?:\.\d{1,16})?|\b\d{1,16}\.\d{1,16} ?m?s\b/g;

/** What a failed check printed (`failedOutput`), up to the end of its fence: it names paths and versions. */
const checkOutput = /^output of check [^\n]{1,200}:\n[\s\S]*?(?=\n<\/untrusted>|(?![\s\S]))/gm;

/** A JSON value without text that differs between two machines or two runs of one test suite. */
function withoutMachineText(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(checkOutput, '[output of checks]').replace(measured, '[time]');
  if (Array.isArray(value)) return value.map(withoutMachineText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, withoutMachineText(inside)]),
  );
}
