import type { JudgeFile, JudgeReach } from '../../contract/judge-reach.ts';
import { javascriptImports } from '../../frame/imports/javascript-imports.ts';
import { pythonImports } from '../../frame/imports/python-imports.ts';
import { resolveJavascript } from '../../frame/imports/resolve-javascript.ts';
import { resolvePython } from '../../frame/imports/resolve-python.ts';
import type { EffectiveIntentSpec } from '../../spec/intentspec.gen.ts';
import { readBlobs } from '../../vcs/blobs.ts';
import type { GitDirectory } from '../../vcs/git.ts';
import { listTree } from '../../vcs/tree.ts';
import { completedName } from './completed-name.ts';
import { joined } from './joined.ts';
import type { JudgedTree, Named } from './named.ts';
import { namedByCommand } from './named-by-command.ts';
import { plainCommands } from './plain-commands.ts';
import { recipeCommands } from './recipe-commands.ts';
import { followLinks, type LinkedEntry, readLinks } from './tree-links.ts';

const maxFiles = 500;
const maxFileBytes = 1024 * 1024;
const maxHops = 6;

/** Directories of things that serve development; what a script imports from elsewhere is the product that it judges. */
const tooling =
  /(?:^|\/)(?:scripts?|ci|tools?|tooling|build-?tools|hack|devtools|checks?|qa|lint|\.[\w-]+)\/|(?:^|\/)(?:global-?)?(?:set-?up|bootstrap)(?:[.-][\w.-]*)?$/i;

interface Visit {
  readonly path: string;
  readonly hops: number;
}

/** What the checks of a contract execute to judge, followed through the tree of the base. */
export async function findJudge(
  objects: GitDirectory,
  baseTree: string,
  spec: EffectiveIntentSpec,
): Promise<JudgeReach> {
  const checks = Object.values(spec.acceptance.verificationPlan).flat();
  if (!checks.some(({ command = '' }) => command !== '')) return nothing;
  const entries = await listTree(objects, baseTree);
  const files = entries.filter(({ mode }) => mode.startsWith('1') && !mode.startsWith('16'));
  return followChecks(checks, files, (paths) => readBlobs(objects, baseTree, paths));
}

const nothing: JudgeReach = { files: [], scripts: {}, programs: [], gaps: [] };

/**
 * Follows the commands of checks through a tree: scripts that they name, scripts of manifests with their hooks, recipes, and what these call
 * and import. At most 500 files of 1 MiB, six hops; what is left out is told.
 */
export async function followChecks(
  checks: readonly { readonly id: string; readonly command?: string }[],
  entries: readonly LinkedEntry[],
  read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>,
): Promise<JudgeReach> {
  const following = new Following(entries, await readLinks(entries, read));
  for (const { id, command = '' } of checks) {
    following.begin(id);
    following.text(command, '', `the command of check \`${id}\``, 0);
    for (let wanted = following.next(); wanted.length > 0; wanted = following.next()) {
      const bytes = await read(wanted.map(({ path }) => path));
      for (const visit of wanted) following.read(visit, bytes.get(visit.path));
    }
  }
  return following.reach();
}

class Following {
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #paths: ReadonlySet<string>;
  readonly #directories = new Set<string>();
  readonly #tree: JudgedTree;
  readonly #files = new Map<string, { role: JudgeFile['role']; checks: Set<string>; via: string }>();
  readonly #scripts = new Map<string, Set<string>>();
  readonly #programs = new Set<string>();
  readonly #absent = new Map<string, string>();
  readonly #mains = new Set<string>();
  readonly #links: ReadonlyMap<string, string>;
  readonly #calledAs = new Map<string, string>();
  readonly #gaps = new Set<string>();
  readonly #texts = new Map<string, string>();
  #check = '';
  #seen = new Set<string>();
  #waiting: Visit[] = [];

  constructor(entries: readonly LinkedEntry[], links: ReadonlyMap<string, string>) {
    this.#links = links;
    this.#sizes = new Map(entries.map(({ path, sizeBytes }) => [path, sizeBytes]));
    this.#paths = new Set(this.#sizes.keys());
    for (const { path } of entries)
      for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
        const directory = path.slice(0, slash);
        if (this.#directories.has(directory)) break;
        this.#directories.add(directory);
      }
    this.#tree = {
      isFile: (path) => this.#paths.has(followLinks(path, links).path),
      isDirectory: (path) => path === '' || this.#directories.has(followLinks(path, links).path),
      under: (directory) => {
        const { path: real } = followLinks(directory, links);
        return [...this.#paths].filter((path) => real === '' || path.startsWith(`${real}/`));
      },
    };
  }

  /** Whatever is found from now on is reached from this check. */
  begin(check: string): void {
    this.#check = check;
    this.#seen = new Set();
  }

  /** Files that are found and not yet read. */
  next(): readonly Visit[] {
    const wanted = this.#waiting;
    this.#waiting = [];
    return wanted;
  }

  /** Follows the commands of a shell text that runs in a directory. */
  text(text: string, directory: string, via: string, hops: number): void {
    if (hops > maxHops) return void this.#gaps.add(`${via}: more than ${maxHops} hops`);
    const places = [directory];
    for (const argv of plainCommands(text))
      for (const place of new Set(places.slice(-4)))
        for (const named of namedByCommand(argv, place, this.#tree)) {
          if (named.kind === 'directory') places.push(named.path);
          else this.#take(named, via, hops);
        }
  }

  #take(named: Exclude<Named, { kind: 'directory' }>, via: string, hops: number): void {
    if (named.kind === 'program') this.#programs.add(named.name.slice(0, 100));
    else if (named.kind === 'absent') {
      if (this.#absent.size < maxFiles) this.#absent.set(named.path, this.#absent.get(named.path) ?? via);
    } else if (named.kind === 'main') this.#main(named.manifest, via, hops);
    else if (named.kind === 'mentioned') this.#lead('', named.path, hops, via);
    else if (named.kind === 'npm') this.#manifest(named.manifest, named.script, via, hops);
    else this.#file(named.path, named.kind === 'recipes' ? 'script' : named.kind, via, hops);
  }

  /** A file counts with the links that lead to it. */
  #file(named: string, role: JudgeFile['role'], via: string, hops: number): void {
    const { path, links } = followLinks(named, this.#links);
    for (const link of role === 'test' ? [] : links)
      this.#files.set(link, { role: 'script', checks: new Set([this.#check]), via });
    if (links.length > 0) this.#calledAs.set(path, named);
    const known = this.#files.get(path);
    if (known) {
      known.checks.add(this.#check);
      if (known.role === 'test') known.role = role; // what is run as a script is no mere test
    } else if (this.#files.size >= maxFiles) return void this.#gaps.add(`more than ${maxFiles} files`);
    else this.#files.set(path, { role, checks: new Set([this.#check]), via });
    if (role === 'test' || this.#seen.has(path)) return;
    this.#seen.add(path);
    const text = this.#texts.get(path);
    if (text !== undefined) this.#content(path, text, hops);
    else if ((this.#sizes.get(path) ?? 0) > maxFileBytes)
      this.#gaps.add(`\`${path}\` is over ${maxFileBytes} bytes`);
    else this.#waiting.push({ path, hops });
  }

  #main(manifest: string, via: string, hops: number): void {
    this.#mains.add(manifest);
    this.#manifest(manifest, '', via, hops);
  }

  #manifest(named: string, script: string, via: string, hops: number): void {
    const { path } = followLinks(named, this.#links);
    if (!this.#paths.has(path)) return;
    const names = this.#scripts.get(path) ?? new Set<string>();
    this.#scripts.set(path, names);
    const key = `${path}\0${script}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    names.add(script);
    this.#file(named, 'manifest', via, hops);
    const text = this.#texts.get(path);
    if (text !== undefined) this.#manifestScript(path, script, text, hops);
  }

  /** Takes up the content of a file that `next` gave out. */
  read({ path, hops }: Visit, bytes: Buffer | undefined): void {
    const text = bytes?.toString('utf8') ?? '';
    this.#texts.set(path, text);
    this.#content(path, text, hops);
  }

  #content(path: string, text: string, hops: number): void {
    if (this.#scripts.has(path)) {
      for (const script of this.#scripts.get(path) ?? []) this.#manifestScript(path, script, text, hops);
      return;
    }
    const called = this.#calledAs.get(path) ?? path;
    const name = called.slice(called.lastIndexOf('/') + 1);
    const directory = called.includes('/') ? called.slice(0, called.lastIndexOf('/')) : '';
    const via = `\`${path}\``;
    const recipes = recipeCommands(name, text);
    if (recipes !== undefined) {
      for (const one of recipes) this.text(one, directory, via, hops + 1);
      return;
    }
    if (/^#!.*\b(?:ba|da|z|k)?sh\b/.test(text) || /\.(?:sh|bash|zsh|ksh|bats)$/.test(name)) {
      this.text(text, '', via, hops + 1);
      for (const found of tails(text)) this.#lead(path, joined(directory, found) ?? '', hops);
    }
    if (/\.[cm]?[jt]sx?$/.test(name) || /^#!.*\b(?:node|deno|bun|tsx)\b/.test(text))
      for (const specifier of javascriptImports(text))
        this.#lead(path, resolveJavascript(specifier, path, this.#paths) ?? '', hops);
    if (/\.pyw?$/.test(name))
      for (const request of pythonImports(text).slice(0, 500))
        for (const found of resolvePython(request, path, this.#paths)) this.#lead(path, found, hops);
    for (const [, quoted = ''] of text.matchAll(
      /["'`]([\w@./-]{3,300}\.(?:[cm]?[jt]sx?|sh|bash|py|rb|pl|php|json|ya?ml|toml|mk))["'`]/g,
    )) {
      this.#lead(path, joined(directory, quoted) ?? '', hops);
      this.#lead(path, joined('', quoted) ?? '', hops);
    }
  }

  /** A file that a script leads to counts where it serves development, too: the rest is the product. */
  #lead(from: string, path: string, hops: number, via = `\`${from}\``): void {
    if (!this.#tree.isFile(path) || path === from) return;
    const isAtRoot = !from.includes('/') && !path.includes('/');
    if (!isAtRoot && !(tooling.test(path) && !isTest.test(path))) return;
    if (/(?:^|\/)(?:package|package-lock|tsconfig\.tsbuildinfo)\.json$/.test(path)) return;
    if (hops >= maxHops) return void this.#gaps.add(`${via}: more than ${maxHops} hops`);
    this.#file(path, 'script', via, hops + 1);
  }

  #manifestScript(path: string, script: string, text: string, hops: number): void {
    const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    if (script === '') this.#mainOf(path, directory, text, hops);
    const scripts = scriptsOf(text);
    const names = script.includes('*')
      ? Object.keys(scripts).filter((name) => name.startsWith(script.slice(0, script.indexOf('*'))))
      : withHooks(script);
    for (const name of names) {
      const command = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
      if (typeof command !== 'string') continue;
      this.#scripts.get(path)?.add(name);
      if (this.#seen.has(`${path}\0run\0${name}`)) continue;
      this.#seen.add(`${path}\0run\0${name}`);
      this.text(command, directory, `script \`${name}\` of \`${path}\``, hops + 1);
    }
  }

  #mainOf(path: string, directory: string, text: string, hops: number): void {
    const { main } = membersOf(text);
    if (!this.#mains.has(path) || typeof main !== 'string') return;
    const found = joined(directory, main) ?? '';
    for (const named of this.#tree.isFile(found)
      ? [{ kind: 'script' as const, path: found }]
      : completedName('node', main, directory, this.#tree))
      if (named.kind === 'script' || named.kind === 'absent') this.#take(named, `\`${path}\``, hops + 1);
  }

  reach(): JudgeReach {
    const paths = [...this.#files.keys()].sort();
    return {
      files: paths.flatMap((path) => {
        const found = this.#files.get(path);
        return found ? [{ path, role: found.role, checks: [...found.checks], via: found.via }] : [];
      }),
      scripts: Object.fromEntries([...this.#scripts].map(([path, names]) => [path, [...names].sort()])),
      programs: [...this.#programs].sort(),
      gaps: [...this.#gaps],
      ...(this.#absent.size === 0 ? {} : { absent: Object.fromEntries(this.#absent) }),
    };
  }
}

/** A package manager runs these around a script. */
function withHooks(script: string): readonly string[] {
  return ['pre', '', 'post'].map((hook) => hook + script);
}

/** Cases stand in it: `tests-kept` judges its changes. */
const isTest =
  /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|rb)$|_spec\.rb$|\.bats$/;

/** Literal ends of words that begin with an expansion: `"$DIR/lib.sh"`. */
function tails(text: string): readonly string[] {
  return [
    ...text.matchAll(/[})"\w]\/((?:[\w.-]{1,100}\/){0,6}[\w.-]{1,100}\.(?:sh|bash|js|mjs|py|rb|pl))\b/g),
  ].map(([, tail = '']) => tail);
}

function scriptsOf(text: string): Readonly<Record<string, unknown>> {
  const { scripts } = membersOf(text);
  return typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, unknown>) : {};
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const members: unknown = JSON.parse(text);
    return typeof members === 'object' && members !== null ? (members as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
