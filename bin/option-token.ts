import { WritError } from '../core/base/errors.ts';
import { nearestName } from '../core/base/printable.ts';
import type { OptionSpec } from './command-parts/command.ts';

/** A lone `-` is an operand (stdin), as everywhere in POSIX. */
export function isOption(token: string): boolean {
  return token.length > 1 && token.startsWith('-');
}

/** The declared option that a token names, with the value it carries; `undefined`: none. */
export function resolveOption(
  token: string,
  declared: readonly OptionSpec[],
): { readonly option: OptionSpec; readonly inline?: string } | undefined {
  if (!token.startsWith('--')) {
    const option = declared.find((one) => one.short === token[1]);
    if (option === undefined) return undefined;
    if (token.length === 2) return { option };
    return option.value === undefined ? undefined : { option, inline: token.slice(token[2] === '=' ? 3 : 2) };
  }
  const equals = token.indexOf('=');
  const name = token.slice(2, equals === -1 ? undefined : equals);
  const option = declared.find((one) => one.name === name);
  if (option === undefined) return undefined;
  return equals === -1 ? { option } : { option, inline: token.slice(equals + 1) };
}

/** `USAGE` for an option that is not declared, with the nearest name. */
export function unknownOption(
  token: string,
  declared: readonly OptionSpec[],
  command: string | undefined,
): WritError {
  const name = (token.split('=')[0] ?? token).slice(0, 80);
  const hints = suggest(
    name.replace(/^-+/, ''),
    declared.map((option) => option.name),
    (one) => `\`--${one}\``,
  );
  return usage(`unknown option \`${name}\``, { found: name, ...(command === undefined ? {} : { command }) }, [
    ...hints,
    command === undefined
      ? 'options of a command follow its name; `writ --help` lists the commands'
      : `\`writ ${command} --help\` shows the options`,
  ]);
}

/** The hint that names the nearest candidate, or none. */
export function suggest(
  typed: string,
  candidates: readonly string[],
  show: (one: string) => string,
): readonly string[] {
  const near = nearestName(typed, candidates);
  return near === undefined ? [] : [`did you mean ${show(near)}?`];
}

/** The fault for a command line that is not understood. */
export function usage(
  message: string,
  detail: Readonly<Record<string, unknown>>,
  hints: readonly string[],
  cause?: unknown,
): WritError {
  return new WritError('USAGE', { message, detail, hints, cause });
}

/** Options of every command, accepted before or after its name. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'json', about: 'exactly one JSON document on stdout' },
  { name: 'quiet', short: 'q', about: 'no progress and no notes; results and errors only' },
  { name: 'no-color', about: 'no colours (also NO_COLOR; FORCE_COLOR forces them)' },
  { name: 'repo', value: 'PATH', about: 'work on the repository at PATH instead of the current directory' },
  { name: 'help', short: 'h', about: 'show help for this level' },
  { name: 'version', about: 'show the version' },
];
