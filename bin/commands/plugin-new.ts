import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { gateScaffold } from '../plugin/gate-scaffold.ts';
import { requireFreeIds } from '../plugin/require-free-ids.ts';

/**
 * `writ plugin new gate NAME`: a plugin with one rule, its cases, its test and its page. An existing directory is left
 * alone.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { args, cwd, options } = context;
  const [kind = '', name = ''] = args;
  if (kind !== 'gate')
    throw new WritError('USAGE', {
      message: `expected \`gate\`, found \`${kind}\``,
      detail: { command: 'plugin new' },
      hints: ['`writ plugin new gate NAME`'],
    });
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 64)
    throw new WritError('USAGE', {
      message: `expected a name in kebab-case, at most 64 letters, found \`${name}\``,
      detail: { command: 'plugin new' },
    });
  await requireFreeIds(context, { name, rules: [{ id: name }] });
  const given = options.value('dir') ?? name;
  const directory = resolve(cwd, given);
  await mkdir(dirname(directory), { recursive: true });
  await mkdir(directory).catch((cause: NodeJS.ErrnoException) => {
    const code = cause.code === 'EEXIST' ? 'OUTPUT_EXISTS' : 'OUTPUT_FAILED';
    const what = cause.code === 'EEXIST' ? 'exists already' : `cannot be made: ${messageOf(cause)}`;
    throw new WritError(code, { message: `\`${given}\` ${what}`, detail: { path: given }, cause });
  });
  const files: string[] = [];
  for (const [path, text] of gateScaffold(name)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    writeOutput(directory, path, text);
    files.push(path);
  }
  return succeeded({ path: directory, name, files }, (printer) => {
    printer.line(`made ${given}: ${files.join(', ')}`);
    printer.line(`  next  writ plugin test ${given}`);
  });
}
