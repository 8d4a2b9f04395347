/** File endings of the languages that have labelled sets. */
export const fileEndings: Readonly<Record<string, string>> = {
  csharp: 'cs',
  go: 'go',
  java: 'java',
  javascript: 'ts',
  kotlin: 'kt',
  perl: 'pl',
  php: 'php',
  python: 'py',
  ruby: 'rb',
  scala: 'scala',
  shell: 'sh',
};

/** One piece of source and the lines on which a finding has to stand; none for a trap. */
export interface LabelledCase {
  readonly name: string;
  readonly path: string;
  readonly code: string;
  readonly lines: readonly number[];
}

/**
 * Reads `=== bad <line>[,<line>] [path]: <name>` and `=== ok [path]: <name>`, each followed by the code; paths that are
 * not named are of that language.
 */
export function parseCases(text: string, language: string): readonly LabelledCase[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      const label = /^(?:ok|bad ([\d,]+))(?: (\S+))?: (.*)$/.exec(section.slice(0, end));
      if (!label) throw new Error(`${language}: ${section.slice(0, end)}`);
      const [, lines, path, name = ''] = label;
      return {
        name,
        path: path ?? `x.${fileEndings[language]}`,
        code: section.slice(end + 1),
        lines: lines === undefined ? [] : lines.split(',').map(Number),
      };
    });
}
