import { checkAssignedName } from './assigned-name.ts';
import { type Prefix, splitPrefix } from './options.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';

const env: Prefix = {
  flags: ['-i', '-0', '-v', '--ignore-environment', '--null', '--debug'],
  valued: ['-u', '--unset', '-C', '--chdir'],
};
/** What follows the options and `NAME=value` operands of `env`; empty where it only prints. */
export function envCommand(args: readonly ShellWord[], reading: Reading): readonly ShellWord[] {
  const { options, command } = splitPrefix('env', args, env);
  for (const { name, value } of options) {
    if (name === '-u' || name === '--unset') checkAssignedName(value?.literal ?? '', undefined);
  }
  let at = command[0]?.literal === '-' ? 1 : 0;
  for (; at < command.length; at += 1) {
    const word = command[at];
    const equals = word?.head.indexOf('=') ?? -1;
    if (word === undefined || equals === -1) break;
    if (!word.single) unproven('an assignment of `env` that is not one word');
    const name = word.head.slice(0, equals);
    const value = word.literal?.slice(equals + 1);
    checkAssignedName(name, value === undefined ? undefined : { ...word, literal: value });
    reading.assigned.add(name);
  }
  return command.slice(at);
}
