import { readFileSync } from 'node:fs';
import t from 'tap';
import { commands } from '../../bin/command-table.ts';
import { rules } from '../../gates/rules.ts';
import { sastRows } from '../../gates/sast/rows.ts';
import { type Case, groupNames, readCases, readUncovered } from './transcripts/cases.ts';
import { readGolden, renderGolden } from './transcripts/golden.ts';
import { wordsOf } from './transcripts/place.ts';

/** What bc4e9f22 had: what is newer has no transcript of it, and tests of its own. */
const recorded = readInterfaces();
const cases = readCases();
const uncovered = readUncovered();
const goldens = groupNames().map((group) => renderGolden(readGolden(group)));

t.test('every case has a golden, and every golden a case', async (t) => {
  for (const group of groupNames()) {
    const named = cases.filter((one) => one.group === group).map(({ name }) => name);
    t.strictSame([...readGolden(group).keys()].sort(), named.toSorted(), group);
  }
});

t.test('every command has a help case and another case', async (t) => {
  for (const { name } of commands.filter((one) => one.name in recorded.commands)) {
    const lines = linesOf(name);
    t.ok(
      lines.some((line) => line.endsWith(' --help')),
      `${name} --help`,
    );
    t.ok(
      lines.some((line) => !line.endsWith(' --help')),
      name,
    );
  }
});

t.test('every option of every command is in a case, or uncovered.toml lists it', async (t) => {
  const missing = commands.flatMap(({ name, options }) => {
    const words = new Set(
      linesOf(name).flatMap((line) => wordsOf(line).map((word) => word.split('=', 1)[0])),
    );
    return options
      .filter((option) => option.name in (recorded.commands[name]?.options ?? {}))
      .filter((option) => !words.has(`--${option.name}`))
      .filter((option) => option.short === undefined || !words.has(`-${option.short}`))
      .map((option) => `${name} --${option.name}`);
  });
  t.strictSame(missing.toSorted(), Object.keys(uncovered.options ?? {}).sort());
});

t.test('every error code is in a golden, or uncovered.toml lists it', async (t) => {
  const missing = Object.keys(recorded.errors).filter((code) => !isPrinted(code));
  t.strictSame(missing.toSorted(), Object.keys(uncovered.codes ?? {}).sort());
});

t.test('every rule has a finding in a golden, or uncovered.toml lists it', async (t) => {
  const ids = [
    ...rules.map(({ id }) => ({ id, text: `"rule": "${id}"` })),
    ...sastRows.map(({ id }) => ({ id, text: `"row": "${id}"` })),
  ];
  const missing = ids
    .filter(({ text }) => !goldens.some((golden) => golden.includes(text)))
    .map(({ id }) => id);
  t.strictSame(missing.toSorted(), Object.keys(uncovered.rules ?? {}).sort());
});

t.test('uncovered.toml gives a reason for each entry', async (t) => {
  for (const [kind, entries] of Object.entries(uncovered))
    for (const [name, reason] of Object.entries(entries)) t.match(reason, /\S/, `${kind} ${name}`);
});

function readInterfaces(): {
  readonly commands: Readonly<Record<string, { readonly options?: object }>>;
  readonly errors: object;
} {
  const read = (name: string) =>
    JSON.parse(
      readFileSync(new URL(`../../fixtures/compatibility/interfaces/${name}.json`, import.meta.url), 'utf8'),
    );
  return { commands: read('commands'), errors: read('codes').errors };
}

function isPrinted(code: string): boolean {
  const word = new RegExp(`\\b${code}\\b`);
  return goldens.some((text) => word.test(text));
}

/** Command lines of a command in all cases; those of a script by the word `writ`. */
function linesOf(name: string): readonly string[] {
  return cases.flatMap(linesIn).filter((line) => line === name || line.startsWith(`${name} `));
}

function linesIn({ writ, sh = '', steps = [] }: Case): readonly string[] {
  const scripts = [sh, ...steps.map((step) => step.sh ?? '')];
  const inScripts = scripts.flatMap((script) =>
    [...script.matchAll(/\bwrit ((?:--json )?[a-z][^|&;<>]*)/g)].map(([, line = '']) => line),
  );
  return [...writ, ...inScripts].map((line) => line.replace(/^(?:--json|-q) /, '').trim());
}
