/** Languages that declarations are looked for in. */
export type SourceLanguage =
  | 'javascript'
  | 'python'
  | 'go'
  | 'rust'
  | 'java'
  | 'kotlin'
  | 'csharp'
  | 'scala'
  | 'c'
  | 'swift'
  | 'ruby'
  | 'php'
  | 'shell'
  | 'elixir'
  | 'lua';

const extensions: Readonly<Record<SourceLanguage, string>> = {
  javascript: 'ts tsx mts cts js jsx mjs cjs',
  python: 'py pyi pyw',
  go: 'go',
  rust: 'rs',
  java: 'java groovy',
  kotlin: 'kt kts',
  csharp: 'cs',
  scala: 'scala sc',
  c: 'c h cc cpp cxx hh hpp hxx m mm',
  swift: 'swift',
  ruby: 'rb rake',
  php: 'php',
  shell: 'sh bash zsh',
  elixir: 'ex exs',
  lua: 'lua',
};

const byExtension = new Map(
  (Object.keys(extensions) as SourceLanguage[]).flatMap((language) =>
    extensions[language].split(' ').map((extension) => [extension, language] as const),
  ),
);

/** The language of a file by its ending; TypeScript counts as JavaScript. `undefined` for what is no source here. */
export function sourceLanguage(path: string): SourceLanguage | undefined {
  return byExtension.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}

/** True for what others wrote and this tree only keeps. */
export function isVendored(path: string): boolean {
  return path.startsWith('node_modules/') || path.includes('/node_modules/');
}
