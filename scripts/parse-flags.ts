import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/**
 * `parseArgs` for a script. An unknown option, one without its value, or an argument where the script takes none ends
 * the process with one line and exit code 2.
 */
export function parseFlags<const Options extends ParseArgsOptionsConfig>(
  options: Options,
  { takesArguments = true }: { readonly takesArguments?: boolean } = {},
) {
  try {
    const parsed = parseArgs({ options, allowPositionals: true, strict: true });
    if (!takesArguments && parsed.positionals.length > 0)
      throw new Error(`This script takes no arguments. Leave out \`${parsed.positionals.join(' ')}\`.`);
    return parsed;
  } catch (fault) {
    return refuse(fault instanceof Error ? fault.message : String(fault));
  }
}

/** Ends a script that cannot start: one line on stderr, exit code 2. */
export function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
