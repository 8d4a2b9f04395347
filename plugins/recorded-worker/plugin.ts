import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { TaskOrder, Worker, WorkResult } from '../../core/interfaces/worker.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';

/** One recorded answer. Without `revision` it is for any; `task` and `attempt` count from 1. */
export interface RecordedAnswer {
  readonly task: number;
  readonly attempt: number;
  readonly revision?: number;
  /** A patch as text (git diff or unified), against the base of the attempt. */
  readonly patch?: string;
  /** Why there is none. */
  readonly nothing?: string;
  /** The worker breaks, with these words, so many times before it answers. */
  readonly breaks?: { readonly times: number; readonly message: string };
  readonly delayMs?: number;
  readonly costUnits?: number;
  readonly tokensUsed?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

const recordingFormat = 'urn:writ:recording:v1';

const known = new Set([
  'task',
  'attempt',
  'revision',
  'patch',
  'nothing',
  'breaks',
  'delayMs',
  'costUnits',
  'tokensUsed',
  'metrics',
]);

/** Reads a recording: `{"format", "answers": [...]}`, at most 64 MiB. RECORDING_MALFORMED names the place. */
export function parseRecording(bytes: Uint8Array): readonly RecordedAnswer[] {
  const { value } = parseStrictJson(bytes, { code: 'RECORDING_MALFORMED', maxBytes: 64 * 1024 * 1024 });
  if (!isRecord(value) || value.format !== recordingFormat || !Array.isArray(value.answers)) {
    throw malformed('', `expected \`{"format": "${recordingFormat}", "answers": [...]}\``);
  }
  return value.answers.map((answer: unknown, index) => parseAnswer(answer, `/answers/${index}`));
}

/**
 * Creates a worker that answers from a recording. If the recording has no answer for an order, the result is
 * `nothing` with a reason.
 */
export function createRecordedWorker(
  answers: readonly RecordedAnswer[],
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Worker {
  const broken = new Map<RecordedAnswer, number>();
  return {
    name: 'recorded',
    usesModel: false,
    async work(order): Promise<WorkResult> {
      const answer = answers.findLast((one) => fits(one, order));
      if (!answer) {
        const { taskNumber, attempt, revision } = order;
        const reason = `the recording has no answer for task ${taskNumber}, attempt ${attempt}, revision ${revision}`;
        return { kind: 'nothing', reason, usage: { costUnits: 0 } };
      }
      if (answer.delayMs !== undefined) await sleep(answer.delayMs, order.signal);
      const before = broken.get(answer) ?? 0;
      if (answer.breaks && before < answer.breaks.times) {
        broken.set(answer, before + 1);
        throw new Error(answer.breaks.message);
      }
      const { costUnits = 0, tokensUsed, metrics } = answer;
      const used = {
        usage: { costUnits, ...(tokensUsed === undefined ? {} : { tokensUsed }) },
        ...(metrics === undefined ? {} : { metrics }),
      };
      return answer.patch === undefined
        ? { kind: 'nothing', reason: answer.nothing ?? 'nothing was recorded', ...used }
        : { kind: 'patch', patch: Buffer.from(answer.patch), ...used };
    },
  };
}

function fits(answer: RecordedAnswer, order: TaskOrder): boolean {
  return (
    answer.task === order.taskNumber &&
    answer.attempt === order.attempt &&
    (answer.revision === undefined || answer.revision === order.revision)
  );
}

function parseAnswer(value: unknown, path: string): RecordedAnswer {
  if (!isRecord(value)) throw malformed(path, 'expected an object');
  for (const key of Object.keys(value))
    if (!known.has(key)) throw malformed(`${path}/${key}`, 'no such field');
  for (const key of ['task', 'attempt'] as const) {
    if (!isCount(value[key], 1)) throw malformed(`${path}/${key}`, 'expected a whole number from 1');
  }
  for (const key of ['revision', 'delayMs', 'costUnits', 'tokensUsed'] as const) {
    if (value[key] !== undefined && !isCount(value[key], 0))
      throw malformed(`${path}/${key}`, 'expected a whole number');
  }
  for (const key of ['patch', 'nothing'] as const) {
    if (value[key] !== undefined && typeof value[key] !== 'string')
      throw malformed(`${path}/${key}`, 'expected text');
  }
  const { metrics, breaks } = value;
  if (
    metrics !== undefined &&
    !(isRecord(metrics) && Object.values(metrics).every((one) => typeof one === 'number'))
  )
    throw malformed(`${path}/metrics`, 'expected numbers by name');
  if (
    breaks !== undefined &&
    !(isRecord(breaks) && isCount(breaks.times, 1) && typeof breaks.message === 'string')
  )
    throw malformed(`${path}/breaks`, 'expected `{times, message}`');
  return value as unknown as RecordedAnswer;
}

function isCount(value: unknown, from: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= 1_000_000_000;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(path: string, message: string): WritError {
  return new WritError('RECORDING_MALFORMED', {
    message: `\`${path}\`: ${message}`,
    detail: { path },
  });
}

/** Its name in slot `worker`. */
export const recordedWorker = 'recorded';

/** A worker that answers from a recording (`docs/recording.md`). RECORDING_MALFORMED. */
export const recordedWorkerPlugin = definePlugin({
  name: 'recorded-worker',
  api: 1,
  setup({ slots, clock }) {
    slots.worker.add(recordedWorker, {
      open: (bytes) => createRecordedWorker(parseRecording(bytes), clock.sleep),
    });
    return undefined;
  },
});
