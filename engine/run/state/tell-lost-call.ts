import { quoted } from '../../../core/base/quoted.ts';
import type { LostCall } from './lost-calls.ts';

const maxWords = 300;

/** What was asked for and what is known of its end, in one line for people and models. Pure. */
export function tellLostCall({ tool, action, command, query, path, startedAt, end }: LostCall): string {
  const what = (command ?? query ?? path ?? '').slice(0, maxWords).toWellFormed();
  const how =
    end === undefined
      ? 'how far it got, nobody knows'
      : `it ${end.outcome === 'done' ? 'was done' : 'failed'}${end.exitCode === undefined ? '' : ` with exit code ${end.exitCode}`}`;
  return `\`${tool}\` (${action}) ${quoted(what)}, ${startedAt}: ${how}`;
}

const maxTold = 20;

/** What people are told of all of them; nothing where there are none. Pure. */
export function lostCallNotices(calls: readonly LostCall[]): readonly string[] {
  if (calls.length === 0) return [];
  const [one, them] = calls.length === 1 ? ['call', 'it'] : ['calls', 'them'];
  const lines = calls.slice(0, maxTold).map((call) => `${call.attempt}: ${tellLostCall(call)}`);
  const more = calls.length > maxTold ? [`and ${calls.length - maxTold} more`] : [];
  return [
    `${calls.length} ${one} of a model had left this machine when the attempt that made ${them} was interrupted, and may have had an effect outside`,
    ...lines,
    ...more,
  ];
}
