import type { JudgeFile, JudgeReach } from '../../contract/judge-reach.ts';
import { completedName } from './completed-name.ts';
import { joined } from './joined.ts';
import { judgedTree } from './judged-tree.ts';
import { manifestScripts } from './manifest-scripts.ts';
import type { Named } from './named.ts';
import { namedByCommand } from './named-by-command.ts';
import { plainCommands } from './plain-commands.ts';
import { servesJudging } from './serves-judging.ts';
import { textLeads } from './text-leads.ts';
import { followLinks, type LinkedEntry } from './tree-links.ts';

const maxFiles = 500;
const maxFileBytes = 1024 * 1024;
const maxHops = 6;

interface Visit {
  readonly path: string;
  readonly hops: number;
}

/** Gathers what the commands of checks lead to. Reads nothing itself: `next` says which files are wanted, `read` takes them. */
export class Following {
  readonly #tree: ReturnType<typeof judgedTree>;
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
    this.#tree = judgedTree(entries, links);
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
    else if (this.#tree.sizeOf(path) > maxFileBytes)
      this.#gaps.add(`\`${path}\` is over ${maxFileBytes} bytes`);
    else this.#waiting.push({ path, hops });
  }

  #main(manifest: string, via: string, hops: number): void {
    this.#mains.add(manifest);
    this.#manifest(manifest, '', via, hops);
  }

  #manifest(named: string, script: string, via: string, hops: number): void {
    const { path } = followLinks(named, this.#links);
    if (!this.#tree.isFile(path)) return;
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
    const { commands, paths } = textLeads(path, this.#calledAs.get(path) ?? path, text, this.#tree);
    for (const command of commands) this.text(command.text, command.directory, `\`${path}\``, hops + 1);
    for (const found of paths) this.#lead(path, found, hops);
  }

  /** A file that a script leads to counts where it serves development, too: the rest is the product. */
  #lead(from: string, path: string, hops: number, via = `\`${from}\``): void {
    if (path === from || !this.#tree.isFile(path) || !servesJudging(from, path)) return;
    if (hops >= maxHops) return void this.#gaps.add(`${via}: more than ${maxHops} hops`);
    this.#file(path, 'script', via, hops + 1);
  }

  #manifestScript(path: string, script: string, text: string, hops: number): void {
    const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const scripts = manifestScripts(text);
    if (script === '') this.#mainOf(path, directory, scripts.main, hops);
    for (const name of scripts.named(script)) {
      const command = scripts.command(name);
      if (command === undefined) continue;
      this.#scripts.get(path)?.add(name);
      if (this.#seen.has(`${path}\0run\0${name}`)) continue;
      this.#seen.add(`${path}\0run\0${name}`);
      this.text(command, directory, `script \`${name}\` of \`${path}\``, hops + 1);
    }
  }

  #mainOf(path: string, directory: string, main: string | undefined, hops: number): void {
    if (!this.#mains.has(path) || main === undefined) return;
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
