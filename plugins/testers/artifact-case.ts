import type { ArtifactRequest } from '../../core/contract/artifact-producer.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { type DeepPartial, sampleSpecWith } from './sample-spec.ts';
import { type CaseFile, toPatchSet, toSideBytes } from './tiny-diff.ts';

/** A change, and what has to be made of it. */
export interface ArtifactCase {
  readonly name: string;
  /** By candidate path; what is the same on both sides is no change, and can be read. */
  readonly files?: Readonly<Record<string, CaseFile>>;
  /** Merged over a contract in which every default holds. */
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

/** What a run would hand to the producer of an artifact of this name. */
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

/** A change whose names and words are meant to break out of whatever they are written into. */
export const hostileChange: Omit<ArtifactCase, 'name' | 'expect'> = {
  files: Object.fromEntries([
    ['a"b\n# <script>alert(1)</script>\u202e.md', { candidate: '`]]>\u0000\u2028</script>\n' }],
    ['__proto__', { base: 'one\n', candidate: 'two\n' }],
    ['constructor', { candidate: Buffer.from([0, 0xff, 0xfe, 10]) }],
  ]),
  spec: { intent: { summary: '``` </script> [x](javascript:alert(1)) __proto__ \u202e' } },
};
