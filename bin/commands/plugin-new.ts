import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import { kebabCase } from '../../engine/plugin-trust/manifest-parts.ts';
import { partFields } from '../../engine/plugin-trust/part-kinds.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { makeDirectory, outputFailed, writeOutput } from '../command-parts/write-output.ts';
import type { NewKind } from '../plugin/kind-words.ts';
import { requireFreeIds } from '../plugin/named-plugin.ts';
import { scaffolds } from '../plugin/scaffolds.ts';

/** RFC 1035, 2.3.4: it stands in the name of a host that the new plugin declares. */
const maxLabel = 63;

/**
 * `writ plugin new KIND NAME`: a plugin with one part, its cases and its page, which passes its test at once. An
 * existing directory is left alone.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { args, cwd, options } = context;
  const [kind = '', name = ''] = args;
  const kinds = Object.keys(scaffolds) as readonly NewKind[];
  const known = kinds.find((one) => one === kind);
  if (known === undefined)
    throw new WritError('USAGE', {
      message: `expected ${kinds.map((one) => `\`${one}\``).join(' or ')}, found ${quoted(kind)}`,
      detail: { command: 'plugin new', expected: kinds },
      hints: kinds.map((one) => `\`writ plugin new ${one} NAME\``),
    });
  if (!kebabCase.test(name) || name.length > maxLabel)
    throw new WritError('USAGE', {
      message: `expected a name in kebab-case, at most ${maxLabel} letters, found ${quoted(name)} (${name.length})`,
      detail: { command: 'plugin new' },
    });
  const made = scaffolds[known](name);
  await requireFreeIds(context, name, known === 'gate' ? { rules: [name] } : { [partFields[known]]: [name] });
  const given = options.value('dir') ?? name;
  const directory = resolve(cwd, given);
  await mkdir(dirname(directory), { recursive: true }).catch((cause) => {
    throw outputFailed(given, cause);
  });
  await makeDirectory(context, given);
  const files: string[] = [];
  for (const [path, text] of made) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    writeOutput(directory, path, text);
    files.push(path);
  }
  return succeeded({ path: directory, name, files }, (printer) => {
    printer.line(`made ${given}: ${files.join(', ')}`);
    printer.line(`  next  writ plugin test ${given}`);
  });
}
