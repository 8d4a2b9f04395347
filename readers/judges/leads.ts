/* Finds the files that a configuration file, a recipe or a workflow of a check refers to. */
import { type Language, scriptLanguage } from '../source/language.ts';
import { toolOfOption, toolSections, toolSettings } from './manifests.ts';
import { completedName, directoryOf, joined, type Named, type VerifyingTree } from './tree.ts';

const recipeFiles: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:g?make|bmake)$/, ['GNUmakefile', 'BSDmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', 'JUSTFILE', '.justfile']],
  [
    /^(?:go-)?task$/,
    ['Taskfile', 'taskfile', 'Taskfile.dist', 'taskfile.dist'].flatMap((name) => [
      `${name}.yml`,
      `${name}.yaml`,
    ]),
  ],
  [/^rake$/, ['rakefile', 'Rakefile', 'rakefile.rb', 'Rakefile.rb']],
  [/^(?:nox)$/, ['noxfile.py']],
  [/^(?:invoke|inv)$/, ['tasks.py']],
  [/^(?:gulp)$/, ['gulpfile.js', 'gulpfile.mjs', 'gulpfile.ts']],
  [/^(?:grunt)$/, ['Gruntfile.js', 'Gruntfile.cjs']],
  [/^(?:gradlew?|gradle)$/, ['gradlew', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties']],
  [/^(?:mvnw?|mvn)$/, ['mvnw', '.mvn/maven.config', '.mvn/jvm.config', '.mvn/extensions.xml']],
  [/^(?:sbt)$/, ['build.sbt', 'project/build.properties', 'project/plugins.sbt']],
  [/^(?:turbo)$/, ['turbo.json']],
  [/^(?:nx)$/, ['nx.json', 'project.json']],
  [/^(?:lerna)$/, ['lerna.json']],
  [/^(?:pre-commit)$/, ['.pre-commit-config.yaml']],
  [/^(?:docker|docker-compose|podman)$/, ['Dockerfile', 'docker-compose.yml', 'compose.yaml', 'compose.yml']],
];
/** Of the names that these look for the first one that is there counts: a new one may win. */
const choosesOne = /^(?:g?make|bmake|just|(?:go-)?task|rake|gulp|grunt)$/;

/** The recipe files that a program uses in a directory, and as `absent` those that it would use if they existed. */
export function recipesOf(
  program: string,
  words: readonly string[],
  home: string,
  tree: VerifyingTree,
): readonly Named[] {
  const isTold = words.some((word) =>
    /^(?:-f.*|--(?:make|just|task|gulp|grunt|rake)?file(?:=.*)?)$/.test(word),
  );
  return recipeFiles.flatMap(([form, files]) =>
    (form.test(program) ? files : []).flatMap((file): readonly Named[] => {
      const path = joined(home, file);
      if (path === undefined) return [];
      if (tree.isFile(path)) return [{ kind: 'recipes', path }];
      return choosesOne.test(program) && !isTold ? [{ kind: 'absent', path }] : [];
    }),
  );
}

const byTabs = /^(?:GNUmakefile|[Mm]akefile|.*\.mk)$/;
const byIndent = /^(?:[Jj]ustfile|\.justfile)$/;
const yaml = /^[Tt]askfile(?:\.dist)?\.ya?ml$/;

/**
 * Returns the commands in a recipe file, one text per line; `undefined` for any other file. Every recipe counts, not
 * only the requested one.
 */
export function recipeCommands(name: string, text: string): readonly string[] | undefined {
  const whole = text.replace(/\\\r?\n/g, ' ');
  if (byTabs.test(name)) {
    const variables = variablesOf(whole);
    return whole.split('\n').flatMap((line) => {
      const [, included] = /^ *(?:-|s)?include[ \t]+([^#]+)/.exec(line) ?? [];
      if (included !== undefined) return [`include ${plainly(included)}`];
      const inline = /^[^\t#=][^=]*:[^=;]*;(.*)$/.exec(line)?.[1];
      const own = line.startsWith('\t') ? line.slice(1) : inline;
      return own === undefined
        ? []
        : [
            expanded(own.replace(/^[@+-]+/, ''), variables).replace(
              /\$[({](?:MAKE|NPM|NODE|PYTHON)[)}]/g,
              (found) => found.slice(2, -1).toLowerCase(),
            ),
          ];
    });
  }
  if (byIndent.test(name))
    return whole
      .split('\n')
      .flatMap((line) => (/^[ \t]+\S/.test(line) ? [line.trim().replace(/^[@-]+/, '')] : []));
  if (yaml.test(name))
    return whole
      .split('\n')
      .flatMap((line) => /^\s*-?\s*(?:cmd:|sh:|-)\s*["']?(.+?)["']?\s*$/.exec(line)?.[1] ?? []);
  return undefined;
}

/**
 * Returns names and globs of an `include`. A variable before a path is an unknown directory and is treated as the
 * root.
 */
function plainly(names: string): string {
  return names
    .replace(/\$[({](?:wildcard|sort|strip)[ \t]+/g, ' ')
    .replace(/\$[({]\w{1,100}[)}]\/?/g, '')
    .replace(/[(){}$]/g, ' ');
}

/** Programs and shell words that precede an executed or sourced file. */
const runs =
  /^(?:\.|source|(?:ba|da|z|k)?sh|node|deno|bun|tsx|python[\d.]*|ruby|perl|php|exec|do|then|time|env)$/;

/** The words of loops over files that are executed: of `for f in ci/*.sh; do . ./$f; done` it is `ci/*.sh`. */
export function loopFiles(commands: readonly (readonly string[])[]): readonly string[] {
  const executed = new Set(
    commands.flatMap((argv) => {
      const first = argv.find((word) => !runs.test(word) && !word.startsWith('-')) ?? '';
      return /^(?:\.\/)?\$\{?(\w{1,100})\}?$/.exec(first)?.[1] ?? [];
    }),
  );
  return commands.flatMap(([loop, variable = '', within, ...files]) =>
    loop === 'for' && within === 'in' && executed.has(variable) ? files : [],
  );
}

const maxVariables = 500;
const maxExpanded = 4_000;
const maxDepth = 4;

/** Variables that a file for make sets, each with all of its values: which one holds, only make knows. */
function variablesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(
    /^ *(?:(?:override|export)[ ]+)?([\w.-]{1,80})[ \t]*(?:[?:+!]|::)?=[ \t]*([^#\n]{0,400})/gm,
  )) {
    if (found.size >= maxVariables) break;
    const before = found.get(name);
    found.set(
      name,
      before === undefined ? value.trim() : `${before} ; ${value.trim()}`.slice(0, maxExpanded),
    );
  }
  return found;
}

/** Expands the variables in a recipe. The arguments of each `$(call …)` become separate commands. */
function expanded(recipe: string, variables: ReadonlyMap<string, string>): string {
  const withCalls = (text: string): string =>
    text.replace(/\$[({]call[ \t]+[\w.-]{1,80},([^(){}]{0,400})[)}]/g, (_, given: string) =>
      given.split(',').join(' ; '),
    );
  return expandedBy(/\$[({]([\w.-]{1,80})[)}]/g, recipe, variables, withCalls);
}

/** Replaces each reference by its value, up to 4,000 characters and four levels deep. */
function expandedBy(
  reference: RegExp,
  text: string,
  variables: ReadonlyMap<string, string>,
  before: (text: string) => string = (same) => same,
): string {
  let now = text;
  for (let depth = 0; depth < maxDepth && now.length < maxExpanded && now.includes('$'); depth += 1) {
    let room = maxExpanded - now.length;
    now = before(now).replace(reference, (whole: string, plain: string | undefined, braced: string) => {
      const value = variables.get(plain ?? braced) ?? whole;
      room -= value.length;
      return room < 0 ? whole : value;
    });
  }
  return now;
}

const shellAssignment =
  /(?:^|[\s;&|({])([A-Za-z_]\w{0,79})=(?:"([^"`\n]{1,400})"|'([^'\n]{1,400})'|([^\s;&|()'"`]{1,400}))(?=[\s;&|)}]|$)/g;
/** `$NAME`, `${NAME}`, `${NAME:-value}`. */
const shellReference = /\$(?:([A-Za-z_]\w{0,79})|\{([A-Za-z_]\w{0,79})(?::?[-=][^{}\n]{0,200})?\})/g;

/** Expands the variables that a shell text sets: with the first value of each, and with the last if they differ. */
export function shellExpanded(text: string): string {
  const [first, last] = [new Map<string, string>(), new Map<string, string>()];
  for (const [, name = '', double, single, plain] of text.matchAll(shellAssignment)) {
    if (last.size >= maxVariables) break;
    // A value that a command makes is not known.
    if (double?.includes('$(')) continue;
    const value = (double ?? single ?? plain ?? '').replace(/^\$\{\w{1,80}:?[-=]([^{}]{1,200})\}/, '$1');
    if (!first.has(name)) first.set(name, value);
    last.set(name, value);
  }
  if (last.size === 0) return text;
  const lines = text.split('\n');
  const texts = [first, last].map((values) =>
    lines.map((line) => expandedBy(shellReference, line, values)).join('\n'),
  );
  return [...new Set(texts)].join('\n');
}

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
