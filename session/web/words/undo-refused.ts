import type { Entry } from '../seen.ts';
import { readTakenBack } from './taken-back.ts';

/** Why what was asked for last, by this message, was not taken back; empty where it was, or something else was said. */
export function undoRefused(transcript: readonly Entry[], message: string): string {
  const at = transcript.findLastIndex(({ kind }) => kind === 'user_message');
  if (transcript[at]?.content !== message) return '';
  const note = transcript
    .slice(at)
    .findLast(({ kind, title }) => kind === 'info_note' && (title === 'Undo' || title === 'Failed'));
  return note === undefined || readTakenBack(note) !== undefined ? '' : (note.content ?? '');
}
