/* A worker that replays recorded answers. */
import { WritError } from '../../core/base/errors.ts';
import { toPointer } from '../../core/base/json-pointer.ts';
import {
  count,
  list,
  mapOf,
  number,
  object,
  oneOf,
  parse,
  SchemaFault,
  type TypeOf,
  text,
} from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { TaskOrder, Worker, WorkResult } from '../../core/interfaces/worker.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';

const whole = (least: number) => count(least, 1_000_000_000);
/** The recording as a whole is bounded. */
const words = text(Number.MAX_SAFE_INTEGER, 0);

/** One recorded answer. Without `revision` it is for any. */
const recordedAnswer = object(
  'an object',
  { task: whole(1), attempt: whole(1) },
  {
    revision: whole(0),
    /** A patch as text (git diff or unified), against the base of the attempt. */
    patch: words,
    /** Why there is none. */
    nothing: words,
    /** The worker breaks, with these words, so many times before it answers. */
    breaks: object('`{times, message}`', { times: whole(1), message: words }),
    delayMs: whole(0),
    costUnits: whole(0),
    tokensUsed: whole(0),
    metrics: mapOf('numbers by name', number),
  },
);
export type RecordedAnswer = TypeOf<typeof recordedAnswer>;

const recordingFormat = 'urn:writ:recording:v1';
const recording = object(`\`{"format": "${recordingFormat}", "answers": [...]}\``, {
  format: oneOf(recordingFormat),
  answers: list(recordedAnswer, 1_000_000),
});

/** Reads a recording: `{"format", "answers": [...]}`, at most 64 MiB. RECORDING_MALFORMED names the place. */
export function parseRecording(bytes: Uint8Array): readonly RecordedAnswer[] {
  const { value } = parseStrictJson(bytes, { code: 'RECORDING_MALFORMED', maxBytes: 64 * 1024 * 1024 });
  try {
    return parse(recording, value).answers;
  } catch (fault) {
    if (!(fault instanceof SchemaFault)) throw fault;
    const { path: at, stray } = fault.facts;
    const path = toPointer(stray === undefined ? at : [...at, stray.name]);
    throw new WritError('RECORDING_MALFORMED', {
      message: `\`${path}\`: ${fault.message}`,
      detail: { path },
    });
  }
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

/** Its name in slot `worker`. */
export const recordedWorker = 'recorded';

/** A worker that answers from a recording (`docs/guides/recording.md`). RECORDING_MALFORMED. */
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
