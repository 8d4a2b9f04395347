import { unknownWords, withPlaceholder } from './placeholder.ts';
import { type ShellWord, unproven } from './reading.ts';

/** The commands of `-exec`, `-execdir`, `-ok` and `-okdir`. */
export function findCommands(args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const commands: (readonly ShellWord[])[] = [];
  for (const word of args) {
    if (!word.operand && word.literal === undefined)
      unproven('an argument of `find` that could be an option');
  }
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.literal ?? '')) continue;
    const command: ShellWord[] = [];
    for (at += 1; at < args.length; at += 1) {
      const word = args[at];
      if (word === undefined || word.literal === ';') break;
      if (word.literal === '+' && args[at - 1]?.literal === '{}') {
        command.splice(-1, 1, unknownWords);
        break;
      }
      command.push(withPlaceholder(word, '{}'));
    }
    if (at >= args.length) unproven('expected `;` or `{} +` to end the command of `find`');
    if (command.length === 0) unproven('expected a program after `-exec`');
    commands.push(command);
  }
  return commands;
}
