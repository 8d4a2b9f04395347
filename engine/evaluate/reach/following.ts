/* Follows check commands through scripts and configuration to the files that they use. */
import type { JudgeFile, JudgeReach } from '../../../core/interfaces/patch-set.ts';
import { ConfigInTree, configuredProgram, isConfigName } from '../../../readers/judges/config-files.ts';
import { configLeads, loopFiles, shellExpanded } from '../../../readers/judges/leads.ts';
import { manifestScripts, toolTest } from '../../../readers/judges/manifests.ts';
import { namedByCommand } from '../../../readers/judges/named-by-command.ts';
import {
  isAmongTests,
  isDirectoryOfRules,
  isTooling,
  servesConfiguration,
  servesVerification,
} from '../../../readers/judges/rules.ts';
import {
  directoryOf,
  followLinks,
  globbed,
  joined,
  type LinkedEntry,
  mainNames,
  type Named,
  verifyingTree,
  type WholeTree,
} from '../../../readers/judges/tree.ts';
import { isCode } from '../../../readers/source/language.ts';
import { importsOf, plainCommands, textLeads } from './text-leads.ts';

const maxFiles = 500;
const maxPlaces = 1_000;
const maxDirectories = 20_000;

/** The verification inputs found so far: at most 500 files. Omitted files are reported as a gap. */
class FoundJudge {
  readonly #files = new Map<string, { role: JudgeFile['role']; checks: Set<string>; via: string }>();
  readonly #scripts = new Map<string, Set<string>>();
  readonly #programs = new Set<string>();
  readonly #places = new Set<string>();
  readonly #absent = new Map<string, string>();
  readonly #gaps = new Set<string>();

  /** Returns false if the file would exceed the limit. */
  file(path: string, role: JudgeFile['role'], check: string, via: string): boolean {
    const known = this.#files.get(path);
    if (known) {
      known.checks.add(check);
      if (known.role === 'test') known.role = role; // what is run as a script is no mere test
      return true;
    }
    if (this.#files.size >= maxFiles) {
      this.gap(`more than ${maxFiles} files`);
      return false;
    }
    this.#files.set(path, { role, checks: new Set([check]), via });
    return true;
  }

  /** A link on the way to a file. */
  link(path: string, check: string, via: string): void {
    this.#files.set(path, { role: 'script', checks: new Set([check]), via });
  }

  /** Marks a file as a test after its content shows that it is one. */
  isTestAfterAll(path: string): void {
    const known = this.#files.get(path);
    if (known) known.role = 'test';
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Files that are executed. */
  get scripts(): readonly string[] {
    return [...this.#files].flatMap(([path, { role }]) => (role === 'script' ? [path] : []));
  }

  /** Returns the names of the reached scripts of a manifest; `undefined` if no script of it was reached. */
  scriptsOf(manifest: string): ReadonlySet<string> | undefined {
    return this.#scripts.get(manifest);
  }

  script(manifest: string, name: string): void {
    const names = this.#scripts.get(manifest) ?? new Set<string>();
    this.#scripts.set(manifest, names.add(name));
  }

  program(name: string): void {
    this.#programs.add(name.slice(0, 100));
  }

  /** A directory in which programs run, or `**` for every one. */
  place(directory: string): void {
    if (this.#places.size < maxPlaces) this.#places.add(directory);
    else this.#places.add('**');
  }

  get places(): readonly string[] {
    return [...this.#places];
  }

  absent(path: string, via: string): void {
    if (this.#absent.size < maxFiles) this.#absent.set(path, this.#absent.get(path) ?? via);
  }

  gap(words: string): void {
    this.#gaps.add(words);
  }

  /** `directories`: those of the tree. */
  reach(directories: readonly string[]): JudgeReach {
    const paths = [...this.#files.keys()].sort();
    return {
      files: paths.flatMap((path) => {
        const found = this.#files.get(path);
        return found ? [{ path, role: found.role, checks: [...found.checks], via: found.via }] : [];
      }),
      scripts: Object.fromEntries([...this.#scripts].map(([path, names]) => [path, [...names].sort()])),
      programs: [...this.#programs].sort(),
      places: [...this.#places].sort(),
      gaps: [...this.#gaps],
      ...(directories.length > maxDirectories ? {} : { directories }),
      ...(this.#absent.size === 0 ? {} : { absent: Object.fromEntries(this.#absent) }),
    };
  }
}

const maxFileBytes = 1024 * 1024;
const maxHops = 6;
const maxRules = 200;
const maxConfigs = 300;

const cases = /^[ \t]*(?:test|it|describe|suite|context|specify)(?:\.\w+)?\(/m;

interface Visit {
  readonly path: string;
  readonly hops: number;
}

/** The path of the workspace, its variables and the path of the working tree, as whole words or before `/`. */
function wholePath(root: string | undefined): RegExp {
  const names = [
    '/workspace',
    '[$]{1,2}(?:WORKSPACE|PWD)',
    '[$]{1,2}[{(](?:WORKSPACE|PWD|CURDIR|(?:shell )?pwd)[})]',
    '`pwd`',
    ...(root === undefined ? [] : [root.replace(/[^\w/]/g, '\\$&')]),
  ];
  return new RegExp(`(?<before>^|[\\s"'\`=:(<>;&|])(?:${names.join('|')})(?=[/\\s"'\`;&|)]|$)`, 'g');
}

/**
 * Follows the commands of checks to the files that they use. Reads no files itself: `next` returns the files to read,
 * and `read` receives their content.
 */
export class Following {
  readonly #tree: WholeTree;
  /** The workspace as a command may name it from anywhere. */
  readonly #whole: RegExp;
  readonly #links: ReadonlyMap<string, string>;
  readonly #found = new FoundJudge();
  readonly #texts = new Map<string, string>();
  readonly #mains = new Set<string>();
  readonly #calledAs = new Map<string, string>();
  /** Files that are read as configuration, and those that only one names. */
  readonly #configs = new Set<string>();
  readonly #namedByConfig = new Set<string>();
  /** Of these those that hold cases. */
  readonly #tests = new Set<string>();
  readonly #configurable: ConfigInTree;
  #check = '';
  #programs = new Set<string>();
  #seen = new Set<string>();
  #waiting: Visit[] = [];

  constructor(entries: readonly LinkedEntry[], links: ReadonlyMap<string, string>, root?: string) {
    this.#whole = wholePath(root);
    this.#links = links;
    this.#tree = verifyingTree(entries, links);
    this.#configurable = new ConfigInTree(this.#tree);
  }

  /** Whatever is found from now on is reached from this check. */
  begin(check: string): void {
    this.#check = check;
    this.#programs = new Set();
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
    if (hops > maxHops) return void this.#found.gap(`${via}: more than ${maxHops} hops`);
    const places = [directory];
    const commands = plainCommands(shellExpanded(text).replace(this.#whole, '$<before>.'));
    for (const word of loopFiles(commands)) this.#loop(word, directory, via, hops);
    for (const argv of commands)
      for (const place of new Set(places.slice(-4))) {
        this.#places(argv, place);
        for (const named of namedByCommand(argv, place, this.#tree)) {
          if (named.kind === 'directory') places.push(named.path);
          else this.#take(named, via, hops);
        }
      }
  }

  /** Where a command runs, and the directories that it names. */
  #places(argv: readonly string[], place: string): void {
    this.#found.place(place);
    for (const word of argv) {
      const named = joined(place, word);
      if (named !== undefined && this.#tree.isDirectory(named)) this.#found.place(named);
    }
  }

  #take(named: Exclude<Named, { kind: 'directory' }>, via: string, hops: number): void {
    if (named.kind === 'program') this.#program(named.name);
    else if (named.kind === 'absent') this.#found.absent(named.path, via);
    else if (named.kind === 'main') this.#main(named.manifest, via, hops);
    else if (named.kind === 'mentioned') this.#lead('', named.path, hops, via);
    else if (named.kind === 'rules') this.#rules(named.path, via, hops);
    else if (named.kind === 'npm') this.#manifest(named.manifest, named.script, via, hops);
    else this.#file(named.path, named.kind === 'recipes' ? 'script' : named.kind, via, hops);
  }

  /** A file counts with the links that lead to it. */
  #file(named: string, role: JudgeFile['role'], via: string, hops: number): void {
    const { path, links } = followLinks(named, this.#links);
    for (const link of role === 'test' ? [] : links) this.#found.link(link, this.#check, via);
    if (links.length > 0) this.#calledAs.set(path, named);
    if (!this.#found.file(path, role, this.#check, via)) return;
    if (role === 'config' && (!isCode(path) || isConfigName(named))) this.#configs.add(path);
    if (role !== 'test') this.#visit(path, hops);
  }

  #visit(path: string, hops: number): void {
    if (this.#seen.has(path)) return;
    this.#seen.add(path);
    const text = this.#texts.get(path);
    if (text !== undefined) this.#content(path, text, hops);
    else this.#want(path, hops);
  }

  #want(path: string, hops: number): void {
    if (this.#tree.sizeOf(path) > maxFileBytes) this.#found.gap(`\`${path}\` is over ${maxFileBytes} bytes`);
    else this.#waiting.push({ path, hops });
  }

  /** Every file in a directory of rules is a verification input, including new files. */
  #rules(directory: string, via: string, hops: number): void {
    const { path } = followLinks(directory, this.#links);
    const files = this.#tree.under(path);
    if (files.length > maxRules) this.#found.gap(`\`${path}\`: ${maxRules} of ${files.length} files`);
    for (const file of files.slice(0, maxRules)) this.#file(file, 'config', via, hops + 1);
    this.#take({ kind: 'absent', path: `${path}/**/*` }, via, hops);
  }

  /** What a loop runs by a glob, or by its names. */
  #loop(word: string, directory: string, via: string, hops: number): void {
    const glob = joined(directory, word);
    if (glob === undefined || !isTooling(glob)) return;
    for (const path of globbed(glob, this.#tree)) this.#lead('', path, hops, via);
    if (/[*?]/.test(glob)) this.#take({ kind: 'absent', path: glob }, via, hops);
  }

  #main(manifest: string, via: string, hops: number): void {
    this.#mains.add(manifest);
    this.#manifest(manifest, '', via, hops);
  }

  #manifest(named: string, script: string, via: string, hops: number): void {
    const { path } = followLinks(named, this.#links);
    if (!this.#tree.isFile(path)) return;
    const key = `${path}\0${script}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#found.script(path, script);
    this.#file(named, 'manifest', via, hops);
    const text = this.#texts.get(path);
    if (text !== undefined) this.#manifestScript(path, script, text, hops);
  }

  /** Processes the content of a file that `next` returned. */
  read({ path, hops }: Visit, bytes: Buffer | undefined): void {
    const text = bytes?.toString('utf8') ?? '';
    this.#texts.set(path, text);
    this.#content(path, text, hops);
  }

  #content(path: string, text: string, hops: number): void {
    if (this.#configs.has(path)) this.#configuration(path, text, hops);
    const scripts = this.#found.scriptsOf(path);
    if (scripts) {
      for (const script of [...scripts]) this.#manifestScript(path, script, text, hops);
      return;
    }
    if (!this.#found.has(path)) return;
    if (this.#namedByConfig.has(path) && isAmongTests(path) && cases.test(text)) {
      this.#tests.add(path);
      this.#found.isTestAfterAll(path);
      return;
    }
    const { commands, paths } = textLeads(path, this.#calledAs.get(path) ?? path, text, this.#tree);
    for (const command of commands) this.text(command.text, command.directory, `\`${path}\``, hops + 1);
    for (const found of paths) {
      if ((isDirectoryOfRules(found) || isTooling(found)) && this.#tree.isDirectory(found))
        this.#rules(found, `\`${path}\``, hops);
      this.#lead(path, found, hops);
    }
  }

  /**
   * Processes the configuration of programs that are known to run. Returns false if none is left; the configuration
   * may name further programs.
   */
  configure(): boolean {
    let isMore = this.#waiting.length > 0;
    for (const { path, program } of this.#configurable.ofPrograms([...this.#programs], this.#found.places)) {
      if (this.#seen.has(`${path}\0config`)) continue;
      this.#seen.add(`${path}\0config`);
      this.#configured(path, `\`${program}\``);
      isMore = true;
    }
    return isMore;
  }

  /** A configuration file behind a link is recorded as a separate file; other configuration is recognised by name. */
  #configured(named: string, via: string): void {
    const { path, links } = followLinks(named, this.#links);
    if (this.#configs.size >= maxConfigs && !this.#configs.has(path))
      return void this.#found.gap(`more than ${maxConfigs} files of configuration`);
    this.#configs.add(path);
    if (links.length > 0) {
      this.#file(named, 'config', via, 0);
      return;
    }
    const text = this.#texts.get(path);
    if (text !== undefined) this.#configuration(path, text, 0);
    else this.#want(path, 0);
  }

  #configuration(path: string, text: string, hops: number): void {
    if (hops >= maxHops) return void this.#found.gap(`\`${path}\`: more than ${maxHops} hops`);
    const called = this.#calledAs.get(path) ?? path;
    const runs = toolTest([...this.#programs], this.#found.scripts);
    const leads = configLeads(called, text, this.#tree, runs);
    for (const program of leads.programs) this.#program(program);
    for (const place of leads.places) this.#found.place(place);
    for (const command of leads.commands) this.text(command, directoryOf(called), `\`${path}\``, hops + 1);
    for (const named of new Set([...leads.paths, ...importsOf(path, called, text, this.#tree)])) {
      if (named === path || !servesConfiguration(path, named)) continue;
      // Known by its name, and by parts of it.
      const own = configuredProgram(named, [...this.#programs]);
      if (own !== undefined && own.scope !== 'place') continue;
      const { path: real } = followLinks(named, this.#links);
      if (this.#tests.has(real)) continue;
      this.#namedByConfig.add(real);
      this.#file(named, isCode(named) ? 'script' : 'config', `\`${path}\``, hops + 1);
    }
  }

  #program(name: string): void {
    this.#programs.add(name.slice(0, 100));
    this.#found.program(name);
  }

  /** A file that a script leads to counts where it serves development, too: the rest is the product. */
  #lead(from: string, path: string, hops: number, via = `\`${from}\``): void {
    if (path === from || !this.#tree.isFile(path) || !servesVerification(from, path)) return;
    if (hops >= maxHops) return void this.#found.gap(`${via}: more than ${maxHops} hops`);
    this.#file(path, 'script', via, hops + 1);
  }

  #manifestScript(path: string, script: string, text: string, hops: number): void {
    const directory = directoryOf(path);
    const scripts = manifestScripts(text);
    if (script === '') this.#mainOf(path, directory, scripts.main, hops);
    for (const name of scripts.named(script)) {
      const command = scripts.command(name);
      if (command === undefined) continue;
      this.#found.script(path, name);
      if (this.#seen.has(`${path}\0run\0${name}`)) continue;
      this.#seen.add(`${path}\0run\0${name}`);
      this.text(command, directory, `script \`${name}\` of \`${path}\``, hops + 1);
    }
  }

  #mainOf(path: string, directory: string, main: string | undefined, hops: number): void {
    if (!this.#mains.has(path) || main === undefined) return;
    for (const named of mainNames(main, directory, this.#tree))
      if (named.kind === 'script' || named.kind === 'absent') this.#take(named, `\`${path}\``, hops + 1);
  }

  reach(): JudgeReach {
    return this.#found.reach(this.#tree.directories);
  }
}
