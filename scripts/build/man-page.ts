/* Writes the manual page of writ from the table that the help is made of. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandSpec, OptionSpec } from '../../bin/command-parts/command.ts';
import { commands } from '../../bin/command-table.ts';
import {
  exitCodes,
  globalOptions,
  groupsOf,
  optionGroups,
  optionWords,
  sentence,
  usageOf,
} from '../../bin/help.ts';

/** Writes `writ.1` into a new directory. */
export function writeManPage(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  writeFileSync(join(directory, 'writ.1'), manPage(version));
}

/** The text of the page in man(7). It has no date, so the same sources give the same bytes. */
export function manPage(version: string): string {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const byName = new Map(shown.map((command) => [command.name, command]));
  return [
    `.TH WRIT 1 "" "writ ${version}" "writ"`,
    '.SH NAME',
    'writ \\- checks a change to a git repository, and commits it with signed evidence that anyone can verify offline',
    '.SH SYNOPSIS',
    '\\fBwrit\\fR \\fIcommand\\fR [\\fIoptions\\fR]',
    '.SH COMMANDS',
    ...groupsOf(shown).flatMap(({ title, names }) => [
      '.TP',
      `\\fB${plain(title)}\\fR`,
      plain(names.join(', ')),
    ]),
    '.SH GLOBAL OPTIONS',
    ...optionItems(globalOptions),
    '.SH EXIT STATUS',
    roff(exitCodes.join(' ')),
    ...groupsOf(shown).flatMap(({ title, names }) => [
      `.SH COMMANDS: ${title.toUpperCase()}`,
      ...names.flatMap((name) => commandSection(byName.get(name))),
    ]),
    '.SH SEE ALSO',
    roff('`writ help` lists the topics, `writ COMMAND --help` is the help of one command.'),
    '',
  ].join('\n');
}

function commandSection(command: CommandSpec | undefined): readonly string[] {
  if (command === undefined) return [];
  const { summary, description, options, examples, arguments: given } = command;
  return [
    `.SS ${plain(`writ ${usageOf(command)}`)}`,
    roff(sentence(summary)),
    ...(description === undefined ? [] : ['.PP', roff(description)]),
    ...given.flatMap((one) => item(one.name, one.about)),
    ...optionGroups(options).flatMap(([title, those]) => ['.PP', `${plain(title)}:`, ...optionItems(those)]),
    '.PP',
    'Examples:',
    ...examples.flatMap(({ line, about }) => item(line, about)),
  ];
}

function optionItems(options: readonly OptionSpec[]): readonly string[] {
  return options.flatMap((option) => item(...optionWords(option)));
}

function item(term: string, about: string): readonly string[] {
  return ['.TP', `\\fB${plain(term)}\\fR`, roff(about)];
}

/** Words in backticks are bold. */
function roff(text: string): string {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? `\\fB${plain(part)}\\fR` : plain(part)))
    .join('');
}

/** Text as it is: a backslash, a hyphen, and a dot or an apostrophe that begins a line mean something to roff. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')
    .replaceAll(/[^\x20-\x7e\n]/gu, toEscape);
}

function toEscape(char: string): string {
  return `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}
