import { printable } from '../../core/base/printable.ts';
import type { RunSettings } from '../../engine/run/state/run-request.ts';
import type { LocalChanges } from '../../engine/vcs/set-aside.ts';
import { openLines } from '../terminal/line-reader.ts';
import type { CommandContext } from './command.ts';

const maxAsked = 5;
const maxShown = 20;
const choices: readonly LocalChanges[] = ['include', 'set-aside', 'stop'];

/** Asks on the terminal what happens to local changes in the way; without a terminal there is no question. */
export function asksLocalChanges({
  interactive,
  print,
  stdin,
  signal,
}: Pick<CommandContext, 'interactive' | 'print' | 'stdin' | 'signal'>): Pick<RunSettings, 'askLocalChanges'> {
  if (!interactive) return {};
  return {
    async askLocalChanges(dirty) {
      print.complain('the change would write where you have local changes:');
      for (const { path, reason } of dirty.slice(0, maxShown))
        print.complain(`  ${printable(path)} (${reason})`);
      if (dirty.length > maxShown) print.complain(`  and ${dirty.length - maxShown} more`);
      using lines = openLines(stdin, signal);
      for (let asked = 0; asked < maxAsked; asked += 1) {
        print.complain(
          'type 1 to include them in the change, 2 to set them aside until it is sealed, 3 to stop (or include, set-aside, stop)',
        );
        const said = (await lines.next())?.trim().toLowerCase();
        if (said === undefined) break;
        const choice = choiceOf(said);
        if (choice !== undefined) return choice;
      }
      return 'stop';
    },
  };
}

/** A choice by its number, its name or the first letters of it, if no other begins with them. */
function choiceOf(said: string): LocalChanges | undefined {
  if (/^[1-9]$/.test(said)) return choices[Number(said) - 1];
  const named = choices.filter((one) => one.startsWith(said.replace(' ', '-')));
  return said !== '' && named.length === 1 ? named[0] : undefined;
}
