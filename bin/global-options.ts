import type { OptionSpec } from './command-parts/command.ts';

/** Options that every command takes, before or after its name (`5-cli.md`, Global). */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'json', about: 'exactly one JSON document on stdout' },
  { name: 'quiet', short: 'q', about: 'no progress and no notes; results and errors only' },
  { name: 'no-color', about: 'no colours (also NO_COLOR; FORCE_COLOR forces them)' },
  { name: 'repo', value: 'PATH', about: 'work on the repository at PATH instead of the current directory' },
  { name: 'help', short: 'h', about: 'show help for this level' },
  { name: 'version', about: 'show the version' },
];
