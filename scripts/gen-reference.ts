/* Writes the reference pages that the code knows, such as rules, commands and configuration keys. */
import { readFileSync, writeFileSync } from 'node:fs';
import { commands } from '../bin/command-table.ts';
import { commandGroups, exitCodes, optionWords, sentence, usageOf } from '../bin/help.ts';
import { artifactScaffold, logScaffold, providerScaffold } from '../bin/plugin/maker-scaffolds.ts';
import { evidenceScaffold, stageCheckScaffold } from '../bin/plugin/scaffolds.ts';
import { rules } from '../gates/rules.ts';
import { describedRows } from '../gates/sast/rows.ts';
import { contractRows } from '../spec/contract-rows.ts';
import { readConfigKeys } from '../test/compatibility/read-interfaces.ts';

const root = new URL('../', import.meta.url);

/** The generated pages below `docs/reference/`, by name; the same sources give the same bytes. */
export function generateReference(): ReadonlyMap<string, string> {
  return new Map([
    ['rules.md', rulesPage()],
    ['commands.md', commandsPage()],
    ['config-keys.md', keysPage()],
    ['spec-fields.md', fieldsPage()],
    ['plugin-types.md', typesPage()],
    ['plugin-scaffolds.md', scaffoldsPage()],
  ]);
}

function rulesPage(): string {
  const sections = rules.flatMap(({ id, point, guide }) => {
    if (guide === undefined) return [];
    const lines = [
      `**Refuses**: ${guide.refuses}`,
      `**Example**: ${guide.example}`,
      `**Fix**: ${guide.mend}`,
      `**Allow**: ${guide.allow ?? 'not possible.'}`,
    ];
    return [`## \`${id}\``, `Runs: \`${point}\`.`, lines.map((line) => `- ${line}`).join('\n')];
  });
  return page('gates/rules.ts and gates/sast/rows.ts', 'Rules', [
    'After this page you know what each built-in rule refuses, how to fix a finding, and how to allow it. `writ rules ID` prints the same.',
    ...sections.map(withPageLinks),
    '## Rows of `sast`',
    'A row is one pattern of the rule `sast`. `CWE` is its number in the Common Weakness Enumeration.',
    table(
      ['row', 'CWE', 'level', 'problem and fix'],
      describedRows.map(({ id, level = 'error', tags = [], about, help = '' }) => [
        `\`${id}\``,
        tags.flatMap((tag) => /cwe-(\d+)$/.exec(tag)?.[1] ?? []).join(', '),
        level,
        `${about} ${help}`,
      ]),
    ),
  ]);
}

function commandsPage(): string {
  const sections = commandGroups.flatMap(({ title, names }) => [
    `## ${title.slice(0, 1).toUpperCase()}${title.slice(1)}`,
    ...names.flatMap((name) => {
      const command = commands.find((one) => one.name === name);
      if (command === undefined) return [];
      const options = command.options.map((option) => {
        const [words, about] = optionWords(option);
        return [`\`${words}\``, about];
      });
      return [
        `### \`writ ${usageOf(command)}\``,
        sentence(command.summary),
        ...(command.description === undefined ? [] : [withPageLinks(command.description)]),
        ...(command.arguments.length === 0
          ? []
          : [
              table(
                ['argument', 'meaning'],
                command.arguments.map((one) => [`\`${one.name}\``, one.about]),
              ),
            ]),
        ...(options.length === 0 ? [] : [withPageLinks(table(['option', 'meaning'], options))]),
      ];
    }),
  ]);
  return page('bin/command-table/', 'Commands', [
    'After this page you know every command, argument and option. `writ COMMAND --help` prints the same with examples.',
    'Global options: `--json`, `--quiet`, `--no-color`, `--repo PATH`, `--help`, `--version`. `writ schema COMMAND` prints the JSON Schema of `data`.',
    exitCodes.join(' '),
    ...sections,
  ]);
}

/** Every key of `.writ/config.toml` with the values that it accepts, by its path. */
export function configKeys(): readonly (readonly [path: string, values: string])[] {
  const walk = (value: unknown, path: string): readonly (readonly [string, string])[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) =>
          walk(inner, key === '[]' ? `${path}[]` : [...(path === '' ? [] : [path]), key].join('.')),
        )
      : [[path, `${value}`]];
  return walk(readConfigKeys(), '');
}

function keysPage(): string {
  return page('the refusals of engine/config/', 'Configuration keys', [
    'After this page you know every key of `.writ/config.toml` and the values that it accepts. [Configuration](config.md) explains them.',
    '`[name]` stands for a name that you choose, `[]` for each table of a list.',
    table(
      ['key', 'values'],
      configKeys().map(([path, values]) => [`\`${path}\``, values]),
    ),
  ]);
}

function fieldsPage(): string {
  const sections = [...Map.groupBy(contractRows, ({ section }) => section)];
  return page('spec/rows/', 'Fields of the spec', [
    'After this page you know what each field of an IntentSpec changes, and which part of writ enforces it. `writ spec schema` prints types and defaults.',
    'A spec that needs a row without an enforcer is refused (`SPEC_UNENFORCED`).',
    ...sections.flatMap(([section, rows]) => [
      `## ${section}`,
      table(
        ['field', 'effect', 'enforced by'],
        rows.map(({ id, rule, enforcedBy }) => [`\`${id}\``, rule, enforcedBy]),
      ),
    ]),
  ]);
}

function typesPage(): string {
  const model = textOf('core/interfaces/model.ts').split('/** Why there is no reply.', 1)[0] ?? '';
  const [, cases = ''] = textOf('plugins/testers/provider-tester.ts').split(
    '/** What a vendor answered once',
  );
  const [change = ''] = textOf('core/interfaces/patch-set.ts').split('\n  /** Byte range');
  return page('core/interfaces/ and plugins/testers/', 'Types of plugins', [
    'After this page you know the exact types that plugin functions receive and return. `writ/plugin` exports them.',
    '## Requests and events of a model provider',
    block(model),
    '## Cases of a model provider',
    block(`/** What a vendor answered once${cases.split('/** The body as the vendor', 1)[0]}`),
    '## Files of a change',
    block(`${change}\n}`),
  ]);
}

function scaffoldsPage(): string {
  const made = [
    ['provider', 'parrot', providerScaffold],
    ['log', 'notary', logScaffold],
    ['artifact', 'owners', artifactScaffold],
    ['evidence', 'house', evidenceScaffold],
    ['stage-check', 'linked-ticket', stageCheckScaffold],
  ] as const;
  return page('bin/plugin/', 'Files of new plugins', [
    'After this page you know the manifest, the module and the cases that `writ plugin new` writes.',
    ...made.flatMap(([kind, name, scaffold]) => [
      `## plugin new ${kind} ${name}`,
      ...[...scaffold(name)]
        .filter(([path]) => /\.js(?:on)?$/.test(path))
        .flatMap(([path, text]) => [
          `\`${path}\`:`,
          `\`\`\`${path.endsWith('.js') ? 'js' : 'json'}\n${text.trim()}\n\`\`\``,
        ]),
    ]),
  ]);
}

function page(source: string, title: string, parts: readonly string[]): string {
  return `${[`<!-- Generated by scripts/gen-reference.ts from ${source}; do not edit. -->`, `# ${title}`, ...parts].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(toCell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A cell on one line; `<` is escaped outside of code. */
function toCell(text: string): string {
  const parts = text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim().split('`');
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part)).join('`');
}

function block(text: string): string {
  return `\`\`\`ts\n${text.trim()}\n\`\`\``;
}

/** Paths of pages become links. */
function withPageLinks(text: string): string {
  return text.replace(
    /`?docs\/(guides|reference)\/([a-z-]+)\.md`?/g,
    (_, folder, name) => `[${name}](${folder === 'guides' ? '../guides/' : ''}${name}.md)`,
  );
}

/** A source file without its first comment. */
function textOf(path: string): string {
  return readFileSync(new URL(path, root), 'utf8').replace(/^\/\* [\s\S]*? \*\/\n/, '');
}

if (import.meta.main)
  for (const [name, text] of generateReference())
    writeFileSync(new URL(`docs/reference/${name}`, root), text);
