import type { SlashCommand } from './slash-command.ts';

/** A run by its id or the beginning of it, one of its tasks, or both: `RUN`, `TASK`, `RUN TASK`, `RUN/TASK`. */
const named = /^(?:([0-9a-f][0-9a-f-]{3,35})(?:(?:\s+|\/)(task-\d{1,4}))?|(task-\d{1,4}))$/;

export const undo: SlashCommand = {
  name: 'undo',
  form: '/undo [RUN] [TASK]',
  says: 'lists what taking back a run or one task of it would touch, and takes it back by a run of its own; without RUN: the last one',
  read: (rest) => {
    if (rest === '') return { kind: 'undo', text: '' };
    const [, run = '', ofRun, ofLast] = named.exec(rest) ?? [];
    const task = ofRun ?? ofLast;
    if (run === '' && task === undefined) return undefined;
    return { kind: 'undo', text: task === undefined ? run : `${run}/${task}` };
  },
};
