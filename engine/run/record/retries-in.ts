import {
  maxPlacesTold,
  maxReasonTold,
  maxRetriesTold,
  type RetriesRecord,
} from '../../store/record/retries.ts';
import type { DecisionInput, DecisionRecord } from './decision-input.ts';

const decisionFile = '/decision-record.json';

/** The retries that a record's own parts tell of, in the order of their names; `undefined` where there was none. */
export function retriesIn(made: readonly (readonly [string, Uint8Array])[]): RetriesRecord | undefined {
  const files = new Map(made);
  const found = made.flatMap(([path, bytes]): readonly RetriesRecord['first'][number][] => {
    if (!path.endsWith(decisionFile)) return [];
    const failed = path.slice(0, -decisionFile.length);
    const { next, rationale } = parse<DecisionRecord>(bytes);
    const inputBytes = files.get(`${failed}/decision-input.json`);
    if ((next !== 'retry' && next !== 'replan') || inputBytes === undefined) return [];
    const input = parse<DecisionInput>(inputBytes);
    const blamed = input.blame?.tasks ?? [];
    const tasks = blamed.length > 0 ? blamed : input.task ? [input.task] : [];
    return [
      {
        failed,
        tasks: tasks.slice(0, maxRetriesTold).map(({ id }) => id),
        next,
        reason: rationale.slice(0, maxReasonTold).toWellFormed(),
        places: placesOf(input),
      },
    ];
  });
  if (found.length === 0) return undefined;
  const byName = found
    .map((one) => [one.failed.replace(/\d+/g, (digits) => digits.padStart(9, '0')), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  return { schema: 'urn:writ:retries:v1', count: found.length, first: byName.slice(0, maxRetriesTold) };
}

function placesOf({ blame, patchFindings, stages }: DecisionInput): RetriesRecord['first'][number]['places'] {
  const all = blame
    ? [...blame.tasks, blame.unwritten].flatMap(({ first }) => first)
    : [...patchFindings, ...stages.flatMap(({ findings }) => findings)];
  return all
    .flatMap(({ rule, severity, path, line }) =>
      severity === 'error' && path !== undefined
        ? [{ rule, path, ...(line === undefined ? {} : { line }) }]
        : [],
    )
    .slice(0, maxPlacesTold);
}

/** The parts were written by this very run. */
function parse<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
}
