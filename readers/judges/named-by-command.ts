/* Finds the files that the words of a command name. */
import { programOf, recipesOf } from './leads.ts';
import { packageScripts, toolOfOption } from './manifests.ts';
import { isTooling, ruleDirectories } from './rules.ts';
import { completedName, globbed, joined, type Named, type VerifyingTree } from './tree.ts';

const interpreters =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|ts-node-esm|esno|babel-node|python[\d.]*|pypy3?|ruby|perl|php|lua|sh|bash|dash|zsh|ksh|source|\.|groovy|Rscript|julia|elixir|swift|zx|c8|nyc|coverage)$/;
const testRunners =
  /^(?:jest|vitest|mocha|tap|tape|ava|uvu|jasmine|karma|cypress|playwright|pytest|py\.test|nose2?|rspec|minitest|bats|phpunit|pest|prove|ctest|qunit|wtr|c8|nyc|borp)$/;
const runners =
  /^(?:env|sudo|time|nice|timeout|exec|command|nohup|xvfb-run|npx|pnpx|bunx|dotenv|cross-env|cross-env-shell|poetry|uv|pipenv|hatch|rye|pdm|bundle|corepack|doas|setsid|stdbuf|run|exec|dlx|x|--|do|then|else|if|elif|while|until|!)$/;
const fileOption =
  /^--?[\w-]*(?:config|conf|rc|rcfile|require|import|loader|setup|env-file|env-file-if-exists|project|tsconfig|reporter|ignore|plugin|preset|baseline|bootstrap|settings|makefile|manifest|preload|opts|rules?|policy|profile|file)(?:-path|-file|s)?$/;
/** Options by which an interpreter loads a package before anything else. */
const loads = /^(?:--import|--require|-r|--loader|--experimental-loader)$/;
const shortFileOption = /^-[rcpfP]$/;
/** Programs with `-c` and `--check` operands that are code, or files under check. */
const checksOperand =
  /^(?:node|prettier|black|ruby|perl|bash|sh|dash|zsh|ksh|python[\d.]*|isort|rustfmt|gofmt|grep|diff)$/;
/** Programs that compare their input with the content of a file. */
const compares =
  /^(?:[efz]?grep|rg|diff|comm|cmp|jq|yq|[gm]?awk|sed|cat|sort|join|xargs|read|done|mapfile|readarray)$/;
const assignment = /^[A-Za-z_]\w*=/;

/** What the words of one command lead to, run in `directory` (empty: the root). */
export function namedByCommand(
  argv: readonly string[],
  directory: string,
  tree: VerifyingTree,
): readonly Named[] {
  const named: Named[] = [];
  const words = argv.filter((word) => !assignment.test(word) || word.includes('/'));
  const fileAt = (word: string): string | undefined => {
    for (const from of directory === '' ? [''] : [directory, '']) {
      const path = joined(from, word);
      if (path !== undefined && path !== '' && tree.isFile(path)) return path;
    }
    return undefined;
  };
  for (const word of argv) if (assignment.test(word)) named.push(...ofAssignment(word, fileAt));
  let start = 0;
  while (start < words.length && isPrefix(words, start)) start += 1;
  const program = nameOf(words[start] ?? '');
  if (program === '') return named;
  for (const word of words.slice(0, start + 1)) named.push({ kind: 'program', name: nameOf(word) });
  const rest = words.slice(start + 1);
  const own = fileAt(words[start] ?? '');
  if (own !== undefined) named.push({ kind: 'script', path: own });
  if (program === 'cd' || program === 'pushd') {
    const path = joined(directory, rest[0] ?? '');
    if (path !== undefined && tree.isDirectory(path)) named.push({ kind: 'directory', path });
    return named;
  }
  const away = directoryOption(rest, directory, tree);
  const home = away ?? directory;
  named.push(...packageScripts(program, rest, home, tree));
  named.push(...recipesOf(program, rest, home, tree));
  if (program === 'include') named.push(...included(rest, home, tree));
  named.push(...filesOfOptions(program, rest, fileAt));
  named.push(...ruleDirectories(program, rest, home, tree));
  if (compares.test(program))
    for (const word of rest) {
      const path = fileAt(word.replace(/^[0-9]?<+/, ''));
      if (path !== undefined && isTooling(path)) named.push({ kind: 'mentioned', path });
    }
  named.push(...operands(program, rest, { fileAt, directory: home, tree }));
  return named;
}

/** `FOO=1`, `env`, `npx`, `timeout 60`: what follows is the program. */
function isPrefix(words: readonly string[], at: number): boolean {
  const word = words[at] ?? '';
  if (at === words.length - 1) return false;
  if (assignment.test(word)) return true;
  if (runners.test(nameOf(word))) return true;
  // Options and durations of the preceding program.
  return at > 0 && (/^-/.test(word) || /^\d+[smh]?$/.test(word));
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1).replace(/\.(?:exe|cmd)$/, '');
}

function directoryOption(words: readonly string[], from: string, tree: VerifyingTree): string | undefined {
  for (const [at, word] of words.entries()) {
    const [, glued] =
      /^(?:--(?:prefix|cwd|dir|directory|rootDir|root|working-directory|project-dir)=|-C)(.+)$/.exec(word) ??
      [];
    const isAlone = /^(?:--(?:prefix|cwd|dir|directory|rootDir|root|working-directory)|-C)$/.test(word);
    const given = glued ?? (isAlone ? words[at + 1] : undefined);
    const path = given === undefined ? undefined : joined(from, given);
    if (path !== undefined && tree.isDirectory(path)) return path;
  }
  return undefined;
}

/** `NODE_OPTIONS="--require ./ci/x.js"`, `BASH_ENV=ci/env.sh`. */
function ofAssignment(word: string, fileAt: (word: string) => string | undefined): readonly Named[] {
  const words = word
    .slice(word.indexOf('=') + 1)
    .split(/\s+/)
    .slice(0, 100);
  const files = words.flatMap((one) => fileAt(one) ?? []);
  return [...filesOfOptions('', words, fileAt), ...files.map((path): Named => ({ kind: 'mentioned', path }))];
}

function filesOfOptions(
  program: string,
  words: readonly string[],
  fileAt: (word: string) => string | undefined,
): readonly Named[] {
  return words.flatMap((word, at): Named[] => {
    const [, name = word, glued] = /^(--?[\w.-]+)=(.+)$/s.exec(word) ?? [];
    if (!/^-/.test(word)) return [];
    const isShort = shortFileOption.test(name) && !(name === '-c' && checksOperand.test(program));
    if (!isShort && !fileOption.test(name)) return [];
    const given = glued ?? words[at + 1] ?? '';
    const path = fileAt(given);
    if (path !== undefined) return [{ kind: 'config', path }];
    // One that need not be there counts once it is.
    const absent = name.includes('env-file') ? joined('', given) : undefined;
    if (absent !== undefined) return [{ kind: 'absent', path: absent }];
    return loads.test(name) && /^@?[a-z]/.test(given) ? [{ kind: 'program', name: programOf(given) }] : [];
  });
}

/** Where the words of a command are looked for. */
interface OperandPlace {
  readonly fileAt: (word: string) => string | undefined;
  readonly directory: string;
  readonly tree: VerifyingTree;
}

/** Files that an interpreter runs; files of a test runner are tests. */
function operands(
  program: string,
  words: readonly string[],
  { fileAt, directory, tree }: OperandPlace,
): readonly Named[] {
  const isTest =
    testRunners.test(program) ||
    words.includes('--test') ||
    (/^(?:deno|bun|go|cargo|dotnet|mix|swift|flutter)$/.test(program) && words[0] === 'test');
  const files = words.flatMap((word) => (word.startsWith('-') ? [] : (fileAt(word) ?? [])));
  if (isTest && !/^(?:c8|nyc|coverage)$/.test(program)) {
    const taken = words.flatMap((word) =>
      /[*?]/.test(word) ? globbed(joined(directory, word) ?? word, tree) : [],
    );
    return [
      ...[...files, ...taken].map((path): Named => ({ kind: 'test', path })),
      ...words.flatMap((word): readonly Named[] => {
        const name = toolOfOption(word);
        return name === undefined ? [] : [{ kind: 'program', name }];
      }),
    ];
  }
  const behind = words.findIndex((word) => /^-[A-Za-z]*m$/.test(word)) + 1;
  if (/^(?:python|coverage)/.test(program) && behind > 0 && !words.slice(0, behind).some(fileAt)) {
    const [named = ''] = words.slice(behind);
    const module = named.replaceAll('.', '/');
    const names = [`${module}.py`, `${module}/__main__.py`, `${module}/__init__.py`];
    // An editable install finds the packages of `src`.
    const found = [...names, ...names.map((path) => `src/${path}`)].flatMap((path) => fileAt(path) ?? []);
    const absent = found.length > 0 || module === '' ? undefined : joined(directory, module);
    return [
      { kind: 'program', name: named.split('.')[0] ?? '' },
      ...(absent === undefined
        ? []
        : [`${absent}.py`, `${absent}/__main__.py`, `${absent}/__init__.py`].map(
            (path): Named => ({ kind: 'absent', path }),
          )),
      ...found.map((path): Named => ({ kind: 'script', path })),
      ...namedByCommand(words.slice(behind), directory, tree),
    ];
  }
  if (program === 'go' && /^(?:run|generate|vet)$/.test(words[0] ?? '')) {
    const [target = ''] = words.slice(1).filter((word) => !word.startsWith('-'));
    const path = joined(directory, target);
    const own =
      path !== undefined && tree.isDirectory(path) && words[0] === 'run'
        ? tree.under(path).slice(0, 200)
        : [];
    return [...files, ...own].map((found) => ({ kind: 'script', path: found }));
  }
  if (!interpreters.test(program)) return [];
  // Code in an argument names files as well.
  const inline = words.flatMap((word, at) =>
    /^(?:-e|-c|-p|--eval|--print|-pe|-r)$/.test(words[at - 1] ?? '')
      ? [...word.matchAll(/["'`]([^"'`\s]{1,300})["'`]/g)].flatMap(([, path = '']) => {
          const there = fileAt(path);
          return there === undefined ? scriptsOf(completedName(program, path, directory, tree)) : [there];
        })
      : [],
  );
  // `node --check file` and similar commands read the file without running it.
  const isRead =
    words.some((word) => /^(?:--check|-n|-l|--syntax-check)$/.test(word)) ||
    (checksOperand.test(program) &&
      /^-c$/.test(words[0] ?? '') &&
      files.length > 0 &&
      !/^(?:bash|sh|dash|zsh|ksh|python)/.test(program));
  const [first] = isRead ? [] : files;
  const completed = isRead ? [] : completedOperand(program, words, { fileAt, directory, tree });
  return [
    ...completed,
    ...(first === undefined || completed.length > 0 ? [] : [{ kind: 'script' as const, path: first }]),
    ...inline.map((path) => ({ kind: 'mentioned' as const, path })),
  ];
}

/** The program's own file where it is named without its ending: the first operand, not what the script is given. */
function completedOperand(
  program: string,
  words: readonly string[],
  { fileAt, directory, tree }: OperandPlace,
): readonly Named[] {
  for (const [at, word] of words.entries()) {
    if (/^-/.test(word) || word === 'run' || interpreters.test(word)) continue;
    const before = words[at - 1] ?? '';
    const isOfOption = /^-[^=]*$/.test(before);
    const own = fileAt(word) === undefined ? completedName(program, word, directory, tree) : [];
    if (own.length > 0 || !isOfOption || word.includes('/')) return own;
  }
  return [];
}

function scriptsOf(named: readonly Named[]): readonly string[] {
  return named.flatMap((one) => (one.kind === 'script' ? [one.path] : []));
}

/** Files that a recipe file includes, also those that do not exist yet. */
function included(words: readonly string[], directory: string, tree: VerifyingTree): readonly Named[] {
  return words.slice(0, 100).flatMap((word): readonly Named[] => {
    const path = joined(directory, word);
    if (path === undefined || path === '') return [];
    const there = /[*?]/.test(word)
      ? globbed(joined(directory, word) ?? word, tree)
      : tree.isFile(path)
        ? [path]
        : [];
    return [
      ...there.map((found): Named => ({ kind: 'recipes', path: found })),
      ...(there.includes(path) ? [] : [{ kind: 'absent' as const, path }]),
    ];
  });
}
