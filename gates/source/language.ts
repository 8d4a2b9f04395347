/** Languages whose source is read token by token. */
export type Language =
  | 'javascript'
  | 'python'
  | 'shell'
  | 'ruby'
  | 'php'
  | 'perl'
  | 'java'
  | 'kotlin'
  | 'scala'
  | 'go'
  | 'csharp'
  | 'rust'
  | 'c'
  | 'swift'
  | 'elixir';

const extensions: Readonly<Record<Language, readonly string[]>> = {
  javascript: ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx', 'vue', 'svelte', 'astro', 'html', 'htm'],
  python: ['py', 'pyw', 'pyi'],
  shell: ['sh', 'bash', 'zsh', 'ksh', 'dash', 'bats'],
  ruby: ['rb', 'rake', 'gemspec', 'ru'],
  php: ['php', 'phtml', 'php5', 'phpt', 'inc'],
  perl: ['pl', 'pm', 't', 'cgi'],
  java: ['java', 'groovy', 'gradle'],
  scala: ['scala', 'sc', 'sbt'],
  kotlin: ['kt', 'kts'],
  go: ['go'],
  csharp: ['cs', 'csx'],
  rust: ['rs'],
  c: ['c', 'cc', 'cpp', 'cxx', 'h', 'hh', 'hpp'],
  swift: ['swift'],
  elixir: ['ex', 'exs'],
};

const byExtension = new Map(
  (Object.keys(extensions) as Language[]).flatMap((language) =>
    extensions[language].map((extension) => [extension, language] as const),
  ),
);

const byName = new Map<string, Language>([
  ['Rakefile', 'ruby'],
  ['Gemfile', 'ruby'],
  ['Jenkinsfile', 'java'],
]);

const byInterpreter: readonly (readonly [RegExp, Language])[] = [
  [/\b(?:node|deno|bun|tsx|ts-node)\b/, 'javascript'],
  [/\bpython[\d.]*\b/, 'python'],
  [/\b(?:ba|z|da|k|a)?sh\b/, 'shell'],
  [/\bruby\b/, 'ruby'],
  [/\bphp\b/, 'php'],
  [/\bperl\b/, 'perl'],
];

/** Glob patterns of every file that `languageOf` knows by name. */
export const languageGlobs: readonly string[] = [
  ...[...byExtension.keys()].map((extension) => `**/*.${extension}`),
  ...[...byName.keys()].map((name) => `**/${name}`),
];

/** Language of a file by its name, else by the interpreter that its first line names; `undefined` where neither tells. */
export function languageOf(path: string, firstLine = ''): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const known =
    byName.get(name) ?? (dot === -1 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase()));
  if (known !== undefined || !firstLine.startsWith('#!')) return known;
  const line = firstLine.slice(0, 200);
  return byInterpreter.find(([pattern]) => pattern.test(line))?.[1];
}
