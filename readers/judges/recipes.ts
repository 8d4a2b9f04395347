/* Reads recipe files: make, just and similar. */
import { joined, type Named, type VerifyingTree } from './tree.ts';

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
  let now = recipe;
  for (let depth = 0; depth < maxDepth && now.length < maxExpanded && now.includes('$'); depth += 1) {
    let room = maxExpanded - now.length;
    const inserted = (whole: string, name: string): string => {
      const value = variables.get(name) ?? whole;
      room -= value.length;
      return room < 0 ? whole : value;
    };
    now = now
      .replace(/\$[({]call[ \t]+[\w.-]{1,80},([^(){}]{0,400})[)}]/g, (_, given: string) =>
        given.split(',').join(' ; '),
      )
      .replace(/\$[({]([\w.-]{1,80})[)}]/g, inserted);
  }
  return now;
}
