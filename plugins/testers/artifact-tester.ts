/* Tests the promises of an artifact producer. */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { messageOf } from '../../core/base/errors.ts';
import type { ArtifactProducer, ArtifactRequest, Produced } from '../../core/interfaces/artifact.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type CaseRunner, type DeepPartial, type Promises, runCases, sampleSpecWith } from './run-cases.ts';
import { type CaseFile, toPatchSet, toSideBytes } from './tiny-diff.ts';

/** A producer under test, and the changes for it. */
export interface ArtifactSubject {
  /** The name in the slot. */
  readonly name: string;
  /** With the options of a case. */
  open(options: NonNullable<ArtifactCase['options']>): Promise<ArtifactProducer>;
  /** At least one of which something is made. */
  readonly cases: readonly ArtifactCase[];
  /** Findings of the rule that the producer runs; default: none. */
  readonly judge?: ArtifactRequest['judge'];
}

/**
 * Runs a producer through what every producer promises; rejects with an AssertionError that names the promise that is
 * not kept.
 */
export async function artifactTester(
  runner: CaseRunner | undefined,
  subject: ArtifactSubject,
): Promise<void> {
  await runCases(runner, 'artifact', subject.name, promisesOf(subject));
}

function promisesOf({ name, open, cases, judge }: ArtifactSubject): Promises {
  const requestOf = (one: Omit<ArtifactCase, 'name' | 'expect'>) => requestOfCase(name, one, judge);
  const madeCases = cases.filter(({ expect }) => expect.unmade === undefined);
  const ofCases = cases.map((one) => [
    `case ${one.name}`,
    async () => {
      const { produce } = await open(one.options ?? {});
      requireExpected(one.expect, await produce(requestOf(one)));
    },
  ]);
  return {
    'it says the media type and the file ending of what it makes': async () => {
      const { contentType, extension } = await open({});
      assert.match(contentType, /^[a-z]+\/[a-z0-9.+-]+(?:; [a-z]+=[a-z0-9.-]+)?$/);
      assert.match(extension, /^[a-z0-9]{1,16}$/);
    },
    'there is a change that it makes something of': async () => {
      assert.ok(madeCases.length > 0, 'expected a case without `unmade`');
    },
    ...Object.fromEntries(ofCases),
    'of the same change it makes the same bytes, side by side as well': async () => {
      for (const one of cases) {
        const { produce } = await open(one.options ?? {});
        const [first, ...others] = await Promise.all([1, 2, 3].map(() => produce(requestOf(one))));
        for (const other of others) assert.deepEqual(told(other), told(first), one.name);
      }
    },
    'what it makes is of its media type': async () => {
      for (const one of madeCases) {
        const { contentType, produce } = await open(one.options ?? {});
        const bytes = bytesOf(await produce(requestOf(one)));
        if (/json(?:;|$)/.test(contentType)) JSON.parse(Buffer.from(bytes).toString('utf8'));
        if (contentType.startsWith('text/')) assert.ok(isUtf8(bytes), 'it is no UTF-8');
      }
    },
    'what it is handed stays as it is': async () => {
      for (const one of cases) {
        const { produce } = await open(one.options ?? {});
        const request = requestOf(one);
        const before = dataOf(request);
        await produce(frozen(request));
        assert.deepEqual(dataOf(request), before, one.name);
      }
    },
    'names and words that are meant to break out of a document do not': async () => {
      const { contentType, produce } = await open({});
      const made = await produce(requestOf(hostileChange));
      if (made === undefined || 'unmade' in made || !/json(?:;|$)/.test(contentType)) return;
      JSON.parse(Buffer.from(bytesOf(made)).toString('utf8'));
    },
    'a change of nothing is no fault': async () => {
      const { produce } = await open({});
      told(await produce(requestOf({})));
    },
  };
}

function requireExpected(expect: ArtifactCase['expect'], made: Produced): void {
  if (expect.unmade !== undefined) {
    assert.ok(made !== undefined && 'unmade' in made, 'expected that there is none, it made one');
    assert.ok(made.unmade.includes(expect.unmade), `expected \`${expect.unmade}\` in: ${made.unmade}`);
    return;
  }
  const text = Buffer.from(bytesOf(made)).toString('utf8');
  for (const part of expect.includes ?? [])
    assert.ok(text.includes(part), `expected \`${part}\` in: ${text.slice(0, 1000)}`);
  if (expect.json !== undefined) assert.deepEqual(parsed(text), expect.json);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`expected JSON, found ${messageOf(cause)}: ${text.slice(0, 200)}`, { cause });
  }
}

function bytesOf(made: Produced): Uint8Array {
  assert.ok(made !== undefined, 'expected an artifact, there is none');
  if (!('unmade' in made)) return 'bytes' in made ? made.bytes : made;
  throw new assert.AssertionError({ message: `expected an artifact, there is none: ${made.unmade}` });
}

/** What came of it, to be compared. */
function told(made: Produced): unknown {
  if (made === undefined || 'unmade' in made) return made;
  return Buffer.from(bytesOf(made)).toString('base64');
}

function dataOf({ spec, patch, stages }: ArtifactRequest): unknown {
  return structuredClone({
    spec,
    stages,
    patch: { ...patch, diff: Buffer.from(patch.diff).toString('base64') },
  });
}

/** Freezes a value deeply, so that a change to the input throws at once. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const one of Object.values(value)) frozen(one);
  return Object.freeze(value);
}

/** A change, and what has to be made of it. */
export interface ArtifactCase {
  readonly name: string;
  /** By candidate path. A file with equal sides is unchanged but readable. */
  readonly files?: Readonly<Record<string, CaseFile>>;
  /** Merged over a spec with every default. */
  readonly spec?: DeepPartial<EffectiveIntentSpec>;
  readonly stages?: ArtifactRequest['stages'];
  /** What the producer is opened with. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly expect: {
    /** Texts that it holds, each. */
    readonly includes?: readonly string[];
    /** The whole of it, as JSON. */
    readonly json?: unknown;
    /** Words of the reason why there is none. */
    readonly unmade?: string;
  };
}

/** Noon of a day: requests of cases are about the same base. */
const baseTimeMs = Date.UTC(2026, 0, 2, 12);

/** The request that a run would pass to the producer of an artifact of this name. */
export function requestOfCase(
  name: string,
  { files = {}, spec = {}, stages = [] }: Omit<ArtifactCase, 'name' | 'expect'>,
  judge: ArtifactRequest['judge'] = async () => [],
): ArtifactRequest {
  const contents = new Map(
    Object.entries(files).flatMap(([path, { candidate }]) =>
      candidate === undefined ? [] : [[path, toSideBytes(candidate)] as const],
    ),
  );
  return {
    name,
    spec: sampleSpecWith(spec),
    patch: toPatchSet(files),
    stages,
    baseTimeMs,
    ruleOptions: {},
    judge,
    engineVersion: '0.0.0',
    readCandidate: async (path) => contents.get(path),
    listCandidate: async () => [...contents.keys()].sort(),
  };
}

/** A change with names and text that try to break out of any document that contains them. */
const hostileChange: Omit<ArtifactCase, 'name' | 'expect'> = {
  files: Object.fromEntries([
    ['a"b\n# <script>alert(1)</script>\u202e.md', { candidate: '`]]>\u0000\u2028</script>\n' }],
    ['__proto__', { base: 'one\n', candidate: 'two\n' }],
    ['constructor', { candidate: Buffer.from([0, 0xff, 0xfe, 10]) }],
  ]),
  spec: { intent: { summary: '``` </script> [x](javascript:alert(1)) __proto__ \u202e' } },
};
