import { type Prefix, splitPrefix } from './options.ts';
import { unknownWords, withPlaceholder } from './placeholder.ts';
import { type ShellWord, unproven } from './reading.ts';

const flags = '-0 -o -p -r -t -x --null --open-tty --interactive --no-run-if-empty --verbose --exit';
const valued = '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars';
const attached = '-e -i -l --eof --replace --max-lines';
const xargs: Prefix = { flags: flags.split(' '), valued: valued.split(' '), attached: attached.split(' ') };

/** The command of `xargs`, to which unknown words are added; empty where it runs its own `echo`. */
export function xargsCommand(args: readonly ShellWord[]): readonly ShellWord[] {
  const { options, command } = splitPrefix('xargs', args, xargs);
  if (command.length === 0) return [];
  const replacing = options.filter(({ name }) => /^(?:-I|-i|--replace)$/.test(name));
  const [replace] = replacing;
  if (replace === undefined) return [...command, unknownWords];
  // A later option takes back an earlier one.
  if (replacing.length > 1 || options.some(({ name }) => /^(?:-[Lln]|--max-(?:lines|args))$/.test(name))) {
    unproven('`xargs` with a placeholder and an option that takes it back');
  }
  const placeholder = replace.value === undefined ? '{}' : replace.value.literal;
  if (!placeholder) unproven('a placeholder of `xargs` that is not written out');
  return command.map((word) => withPlaceholder(word, placeholder));
}
