import { quoted } from '../../../core/base/quoted.ts';
import type { BlamedFindings, DecidedTask, DecisionInput } from '../record/decision-input.ts';

const maxTasks = 10;
const maxPlaces = 3;

/** The Tasks whose retries a failure counts against: of a candidate all that wrote what it was refused for. */
export function pickedTasks({ task, blame }: DecisionInput): readonly DecidedTask[] {
  if (blame && blame.tasks.length > 0) return blame.tasks;
  return task === undefined ? [] : [task];
}

/** Who wrote what the candidate was refused for, and where nobody did. */
export function blameReasons({ blame }: DecisionInput): readonly string[] {
  if (!blame) return [];
  const { tasks, unwritten } = blame;
  const more = tasks.length > maxTasks ? [`and ${tasks.length - maxTasks} more tasks`] : [];
  return [
    ...tasks.slice(0, maxTasks).map((task) => `task ${quoted(task.id)} wrote ${placesOf(task)}`),
    ...more,
    ...(unwritten.count > 0 ? [`no task wrote ${placesOf(unwritten)}`] : []),
  ];
}

/** Who is tried again for a candidate, and why it is them. */
export function pickReason(input: DecisionInput): readonly string[] {
  const { subject, source, blame, task } = input;
  if (subject !== 'candidate' || source !== 'worker') return [];
  const named = blame?.tasks ?? [];
  if (named.length > 0)
    return [named.length === 1 ? 'that task is tried again' : 'those tasks are tried again'];
  if (!task) return [];
  return [`task ${quoted(task.id)}, the last of the plan, is tried again: nothing says whose work it is`];
}

function placesOf({ count, first }: BlamedFindings): string {
  const named = first
    .slice(0, maxPlaces)
    .map(({ rule, path = '', line }) => `${quoted(line === undefined ? path : `${path}:${line}`)} (${rule})`);
  const more = count > named.length ? ` and ${count - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}
