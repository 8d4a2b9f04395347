/* Finds the files that a configuration file of a check refers to. */
import { type Language, scriptLanguage } from '../source/language.ts';
import { toolOfOption, toolSections, toolSettings } from './manifests.ts';
import { completedName, directoryOf, joined, type VerifyingTree } from './tree.ts';

const maxWords = 10_000;

/** What a configuration leads to. */
interface ConfigLeads {
  /** Files that it names. */
  readonly paths: readonly string[];
  /** Directories that it names: programs may run there. */
  readonly places: readonly string[];
  /** Loaders and transforms that it configures. */
  readonly programs: readonly string[];
  /** Commands that it has run, in its directory. */
  readonly commands: readonly string[];
}

const nothing: ConfigLeads = { paths: [], places: [], programs: [], commands: [] };

/** Names in these files are the subject of a check, or exclusions: they lead to no verification input. */
const silent =
  /^(?:BUILD(?:\.bazel)?|CMakeLists\.txt|meson\.build|composer\.json|Dockerfile|\.env[\w.]*|[\w.-]+\.(?:cs|fs|vb)proj|mix\.exs|\.editorconfig|.*ignore)$/;
const subjects =
  '(?:ignores?|\\w{0,40}[iI]gnorePatterns|excludes?|extend-exclude|omit|includes?|files|inputs?|outputs?|entry|entryPoints|alias|paths|mutate|spec|testMatch|testRegex|testpaths|source|packages|modules?|per-file-ignores|collectCoverageFrom|main|types|typeRoots|(?:DJANGO_SETTINGS|django_settings)_(?:MODULE|module)|pythonpath)';
const inLists = new RegExp(
  `["']?\\b${subjects}["']?[ \\t]{0,20}[:=][ \\t\\n]{0,20}(?:\\[[^[\\]]{0,2000}\\]|\\{[^{}]{0,2000}\\}|"[^"\\n]{0,300}"|'[^'\\n]{0,300}')`,
  'g',
);
/** With what is indented deeper below. `entry` of a hook is what is run. */
const inLines = new RegExp(
  `^([ \\t]{0,40})${subjects.replace('|entry|', '|')}[ \\t]{0,20}[:=][^\\n]{0,1000}\\n(?:\\1[ \\t]{1,40}[^\\n]{0,300}\\n|\\1-[^\\n]{0,300}\\n){0,200}`,
  'gm',
);
/** Sections that name the product: how a package is built. */
const ofBuild = /^tool\.(?:hatch\.(?!envs)|pdm\.(?!scripts)|rye\.(?!scripts))/;
/** Python names its plugins as modules. */
const pluginNames =
  /(?:^|[\s"'=])-p[ =]{0,2}([\w.]{1,200})|plugins["']?[ \t]{0,20}[:=][ \t]{0,20}([[(][^[\])]{0,2000}|[^\n]{0,300})/g;
const roots = /\$\{?\w{1,100}\}?\/|<\w{1,100}>\/|\{\w{1,100}\}\/|%\w{1,100}%\//g;
const loaders =
  /^(?:tsx|ts-node|ts-jest|babel-jest|@swc-node\/[\w-]+|esbuild-register|esbuild-runner|tsconfig-paths|vite-tsconfig-paths|@babel\/register|@swc\/(?:jest|register)|@esbuild-kit\/[\w-]+)(?:\/[\w./-]+)?$/;

/**
 * Reads a configuration file of a check. `called` is the path by which it was reached, through links. `runs` returns
 * whether a tool may run; it selects sections in a file with settings of several tools.
 */
export function configLeads(
  called: string,
  text: string,
  tree: VerifyingTree,
  runs: (tool: string) => boolean,
): ConfigLeads {
  const name = called.slice(called.lastIndexOf('/') + 1);
  const directory = directoryOf(called);
  if (silent.test(name)) return nothing;
  const settings = settingsOf(name, text, runs);
  const isLines = /\.(?:ini|cfg|toml|ya?ml|opts|rc|conf)$|^\.[\w-]+$/.test(name);
  const told = withoutSubjects(settings, isLines);
  const words = [...wordsOf(name, told), ...pluginFiles(name, told)];
  const found = new Set<string>();
  const places = new Set<string>();
  for (const word of words) {
    for (const path of filesOf(word, name, directory, tree)) found.add(path);
    for (const from of [directory, '']) {
      const place = joined(from, word);
      if (place !== undefined && tree.isDirectory(place)) places.add(place);
    }
  }
  return {
    paths: [...found],
    places: [...places],
    programs: words.flatMap((word) => (loaders.test(word) ? programOf(word) : (toolOfOption(word) ?? []))),
    commands:
      name === 'tox.ini'
        ? told
            .replace(/\{\w{1,100}\}\//g, '')
            .split('\n')
            .map(withoutKey)
        : [],
  };
}

function settingsOf(name: string, text: string, runs: (tool: string) => boolean): string {
  if (name === 'package.json') return toolSettings(text);
  if (!/^(?:pyproject\.toml|setup\.cfg|tox\.ini)$/.test(name)) return text;
  return toolSections(text, runs)
    .flatMap(([header, part]) => (ofBuild.test(header) ? [] : [part]))
    .join('');
}

function withoutSubjects(text: string, isLines: boolean): string {
  const plain = isLines ? `${text}\n`.replace(inLines, '\n') : text;
  return plain.replace(inLists, ' ');
}

/** Candidate files for the plugin modules. */
function pluginFiles(name: string, text: string): readonly string[] {
  if (!/\.(?:ini|cfg|toml|py)$/.test(name)) return [];
  const modules = [...text.matchAll(pluginNames)].flatMap(([, one = '', several = '']) => [
    one,
    ...several.split(/[^\w.]+/),
  ]);
  return modules
    .filter((module) => /^\w+(?:\.\w+)*$/.test(module))
    .slice(0, 200)
    .flatMap((module) => {
      const path = module.replaceAll('.', '/');
      return [`${path}.py`, `${path}/__init__.py`];
    });
}

/** The name by which a package that is loaded is known. */
export function programOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, /^@(?!swc-node|esbuild-kit)/.test(specifier) ? 2 : 1)
    .join('/');
}

function withoutKey(line: string): string {
  return line.replace(/^\s*(?:commands(?:_pre|_post)?\s*=)?\s*-?/, '');
}

/** Languages in which configuration quotes file names. */
const quoting: ReadonlySet<Language | undefined> = new Set([
  'javascript',
  'python',
  'ruby',
  'php',
  'java',
  'kotlin',
] as const);

/** In code, only quoted texts count; in other files, every word outside a comment. */
function wordsOf(name: string, text: string): readonly string[] {
  const plain = text.replace(roots, ' ');
  if (name === 'gradlew' || quoting.has(scriptLanguage(name)))
    return [...new Set([...quotedPaths(text), ...quotedPaths(text.replace(roots, ''))])];
  const words = plain
    .split('\n')
    .filter((line) => !/^\s*(?:#|;|\/\/)/.test(line))
    .flatMap((line) => line.split(/[\s"'`=,;:()[\]{}<>|&$]+/));
  return [...new Set(words.filter((word) => word.length > 1 && word.length <= 300))].slice(0, maxWords);
}

function filesOf(word: string, name: string, directory: string, tree: VerifyingTree): readonly string[] {
  const plain = word.replace(/^\/+/, '');
  const direct = [joined(directory, plain), joined('', plain)];
  const completed = [
    ...((scriptLanguage(name) === 'javascript' || /json5?c?$|ya?ml$|rc$|\.opts$/.test(name)) &&
    word.includes('/')
      ? completedName('node', plain, directory, tree).flatMap((one) =>
          one.kind === 'script' ? [one.path] : [],
        )
      : []),
    ...(/^(?:Rakefile|\.rspec|[\w.-]+\.r(?:b|ake))$/.test(name)
      ? direct.map((path) => (path === undefined ? undefined : `${path}.rb`))
      : []),
  ];
  return [...direct, ...completed].filter(
    (path) => path !== undefined && path !== '' && tree.isFile(path),
  ) as string[];
}

const maxQuoted = 10_000;

/**
 * Texts in quotes that may be paths, also such as are put together from parts: `join('ci', 'rules.json')`, `Path('ci')
 * / 'rules.json'`.
 */
export function quotedPaths(written: string): readonly string[] {
  const found = new Set<string>();
  // `${root}/ci/rules.json` and f"{root}/ci/rules.json" begin where the text is known.
  const text = written.replace(/\$?\{[^{}\n]{1,200}\}\//g, '');
  for (const [, word = ''] of text.matchAll(/["'`]((?:file:\/\/)?[\w@.~/-]{2,300})["'`]/g)) {
    if (found.size >= maxQuoted) break;
    found.add(word.replace(/^file:\/\//, ''));
    // Behind a directory: `root + '/ci/rules.json'`.
    if (word.startsWith('/')) found.add(word.replace(/^\/+/, ''));
  }
  // What is spawned: "bash ci/check.sh --all".
  for (const [, words = ''] of text.matchAll(/["'`]([^"'`\n]{3,300}[ \t][^"'`\n]{1,300})["'`]/g)) {
    if (found.size >= maxQuoted) break;
    for (const word of words.split(/[\s=;|&<>(),]+/))
      if (/^[\w@./-]+\/[\w@./-]+$/.test(word)) found.add(word);
  }
  for (const [parts] of text.matchAll(
    /(?:["'][\w@./-]{1,100}["'][ \t\n]{0,20}\)?[ \t\n]{0,20}[,/][ \t\n]{0,20}){1,6}["'][\w@./-]{1,100}["']/g,
  )) {
    if (found.size >= maxQuoted) break;
    let path = '';
    for (const [, part = ''] of parts.matchAll(/["']([^"']*)["']/g)) {
      path = path === '' ? part : `${path}/${part}`;
      found.add(path);
    }
  }
  return [...found];
}
