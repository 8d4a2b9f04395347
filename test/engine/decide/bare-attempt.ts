import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { Attempt } from '../../../engine/state/open-run.ts';
import { stepsOver } from '../../../engine/state/record-collector.ts';
import { readRecordFile, readStoredRecord } from './stored-record.ts';

const stored = readStoredRecord('work-that-cites');

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

/** The effective spec of a stored run, to be changed at will. */
export function sampleSpec(): Writable<EffectiveIntentSpec> {
  return readRecordFile(stored, 'effective.json') as unknown as Writable<EffectiveIntentSpec>;
}

export interface BareOptions {
  readonly spec?: EffectiveIntentSpec;
  readonly identity?: object;
  readonly services?: object;
  readonly environment?: object;
  readonly patch?: object;
}

/**
 * An attempt with as much as deciding reads: no repository, no workspace, steps in memory, and listeners that say
 * nothing.
 */
export function bareAttempt({
  spec = sampleSpec(),
  identity,
  services,
  environment,
  patch,
}: BareOptions = {}): Attempt {
  return {
    name: 'candidate-1',
    identity: {
      runId: 'run-1',
      threadId: 'thread-1',
      startedAtMs: 1_000,
      contract: { effective: spec, digest: 'd'.repeat(64) },
      sandboxName: 'bubblewrap',
      isWorked: true,
      authorship: { authors: [], committers: [], broughtBy: 'Bo <bo@x>' },
      ...identity,
    },
    services: {
      steps: stepsOver({ records: [], append: async () => undefined }),
      engine: {
        hooks: {
          replan: { sense: { call: async () => [] } },
          decision: { guard: { call: async () => undefined } },
        },
      },
      settings: { clock: { now: () => 3_500 } },
      store: { refs: { content: (runId: string) => `refs/ai/content/${runId}` } },
      calls: { lost: () => [] },
      secrets: { given: {}, values: [] },
      wallClockExceeded: () => false,
      ...services,
    },
    environment: {
      base: { commit: 'b'.repeat(40) },
      policy: { commit: 'c'.repeat(40), ref: 'refs/heads/main' },
      target: { ref: 'refs/heads/main' },
      config: {
        factors: new Map(),
        checks: { reports: new Map() },
        redaction: {},
        approvals: { inProcess: false },
      },
      plugins: { networks: () => [] },
      ...environment,
    },
    patch: {
      digest: 'e'.repeat(64),
      candidateTree: 'f'.repeat(40),
      baseCommit: 'b'.repeat(40),
      files: [],
      ...patch,
    },
    box: { list: () => [] },
    approvals: [],
  } as unknown as Attempt;
}
