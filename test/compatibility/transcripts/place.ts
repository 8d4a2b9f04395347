import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { merge } from '../../engine/sample.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';
import { launcherOptions } from '../../starter/program.ts';
import { runProgram } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import type { Beside, Case, Json, Preparation, SetUp, Step } from './cases.ts';
import { corpusFiles } from './corpus.ts';
import type { Block } from './golden.ts';
import { Normaliser } from './normaliser.ts';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const sampleSpec = join(project, 'fixtures/runs/_sample.intent.json');
/** As `bin/writ.js` starts Node; before `--`, Node would read `--env-file` itself. */
const startOptions = [...launcherOptions, '--'];
/** Without an end of the process. A busy machine needs many times what an idle one does. */
const patienceMs = 300_000;

type Values = Readonly<Record<string, string>>;

interface Program {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/**
 * One directory in which all cases run, one after the other: `repo` (a repository), `home`, `in` (input files) and
 * `tmp`. Its path stays the same, so that what a set-up wrote holds in each copy of it.
 */
export class Place {
  readonly #program: string;
  readonly #setUps: Readonly<Record<string, SetUp>>;
  readonly #zone: string;
  readonly #box = realpathSync(mkdtempSync(join(tmpdir(), 'wt-')));
  readonly #made = new Map<string, Values>();
  #values: Record<string, string> = {};

  /** `program`: directory of an unpacked package; `zone`: time zone of the processes. */
  constructor(program: string, setUps: Readonly<Record<string, SetUp>>, zone = 'UTC') {
    this.#program = realpathSync(program);
    this.#setUps = setUps;
    this.#zone = zone;
    mkdirSync(join(this.#box, 'bin'));
    const launcher = join(this.#program, 'bin/writ.js');
    const script = `#!/bin/sh\nexec '${process.execPath}' ${startOptions.join(' ')} '${launcher}' "$@"\n`;
    writeFileSync(join(this.#box, 'bin/writ'), script, { mode: 0o755 });
  }

  get #root(): string {
    return join(this.#box, 'place');
  }

  /** Runs the command lines of a case, each way that it asks for, and resolves to what they printed and wrote. */
  async run(one: Case): Promise<readonly Block[]> {
    const normaliser = new Normaliser(
      {
        [this.#root]: '<place>',
        [this.#program]: '<program>',
        [this.#box]: '<box>',
        [process.execPath]: '<node>',
        [project.slice(0, -1)]: '<project>',
      },
      one.keep,
    );
    if (one.sh !== undefined) return [await this.#runScript(one, one.sh, normaliser)];
    const ways = one.json === 'only' ? ['--json '] : one.json ? ['', '--json '] : [''];
    const blocks: Block[] = [];
    for (const way of ways) blocks.push(...(await this.#runLines(one, way, normaliser)));
    return blocks;
  }

  /** Whether the machine has what a case, or its set-up, needs: the reason why not, else `undefined`. */
  lacks(one: Case): string | undefined {
    const needs = [...(one.needs ?? [])];
    for (let at: string | undefined = one.place; at !== undefined; at = this.#setUps[at]?.from)
      needs.push(...(this.#setUps[at]?.needs ?? []));
    return needs.find((need) => !has(need));
  }

  remove(): void {
    rmSync(this.#box, { recursive: true, force: true });
  }

  async #runScript(one: Case, script: string, normaliser: Normaliser): Promise<Block> {
    await this.#restore(one.place);
    await this.#prepare(one, one.env);
    const beside = one.beside && (await this.#start(one.beside, one));
    const ended = this.#sh(this.#fill(script), join(this.#root, one.cwd ?? 'repo'), one.env);
    await beside?.();
    return this.#blockOf(script, ended, one.outputs, normaliser);
  }

  async #runLines(one: Case, way: string, normaliser: Normaliser): Promise<readonly Block[]> {
    await this.#restore(one.place);
    await this.#prepare(one, one.env);
    const beside = one.beside && (await this.#start(one.beside, one));
    const blocks: Block[] = [];
    for (const [index, line] of one.writ.entries()) {
      const ended = withoutFields(await this.#writ(`${way}${line}`, one), one.omit);
      this.#keepRun(ended.out);
      const isLast = index === one.writ.length - 1;
      const outputs = isLast ? one.outputs : undefined;
      blocks.push(this.#blockOf(`writ ${way}${line}`, ended, outputs, normaliser));
    }
    await beside?.();
    return blocks;
  }

  #blockOf(line: string, ended: Program, outputs: readonly string[] = [], normaliser: Normaliser): Block {
    const texts = outputs.map((path) => [path, this.#read(path)] as const);
    return {
      line,
      exit: `${ended.status ?? ended.signal}`,
      out: normaliser.text(ended.out),
      err: normaliser.text(ended.err),
      files: Object.fromEntries(
        texts.map(([path, text]) => [path, text === undefined ? text : normaliser.text(text)]),
      ),
    };
  }

  /** Puts the place into the state of a set-up, which is made where it was not yet. */
  async #restore(name: string): Promise<void> {
    const kept = join(this.#box, 'set-ups', name);
    if (!this.#made.has(name)) {
      const setUp = this.#setUps[name];
      if (setUp === undefined) throw new Error(`no set-up is called \`${name}\``);
      if (setUp.from === undefined) {
        this.#clear();
        this.#values = {};
        for (const part of ['repo', 'home', 'in', 'tmp'])
          mkdirSync(join(this.#root, part), { recursive: true });
      } else {
        await this.#restore(setUp.from);
      }
      await this.#prepare(setUp);
      mkdirSync(dirname(kept), { recursive: true });
      this.#sh(`cp -a '${this.#root}' '${kept}'`, this.#box);
      this.#made.set(name, { ...this.#values });
    }
    this.#clear();
    this.#sh(`cp -a '${kept}' '${this.#root}'`, this.#box);
    this.#values = { ...this.#made.get(name) };
  }

  #clear(): void {
    if (existsSync(this.#root)) this.#sh(`chmod -R u+rwX '${this.#root}'; rm -rf '${this.#root}'`, this.#box);
  }

  async #prepare(given: Preparation, env: Values = {}): Promise<void> {
    for (const [path, from] of Object.entries(given.copies ?? {})) {
      mkdirSync(dirname(join(this.#root, path)), { recursive: true });
      this.#sh(`cp -RT '${join(project, from)}' '${join(this.#root, path)}'`, this.#root);
    }
    for (const [path, text] of Object.entries(given.files ?? {}))
      this.#write(this.#fill(path), this.#fill(text));
    for (const [path, more] of Object.entries(given.specs ?? {})) {
      const base = JSON.parse(readFileSync(sampleSpec, 'utf8')) as Json;
      this.#write(path, this.#fill(`${JSON.stringify(merge(base, more), undefined, 2)}\n`));
    }
    for (const [directory, corpus] of Object.entries(given.corpora ?? {}))
      for (const [path, text] of corpusFiles(project, corpus)) {
        if (text === undefined) rmSync(join(this.#root, directory, path), { force: true });
        else this.#write(join(directory, path), text);
      }
    if (given.run !== undefined) await this.#prepareRun(given.run);
    for (const step of given.steps ?? []) await this.#take(step, { ...env, ...step.env });
  }

  async #prepareRun(folder: string): Promise<void> {
    const at = join(project, 'fixtures/runs', folder);
    const { spec, advisories } = JSON.parse(readFileSync(join(at, 'case.json'), 'utf8')) as {
      readonly spec: Json;
      readonly advisories?: string;
    };
    const base = JSON.parse(readFileSync(sampleSpec, 'utf8')) as Json;
    this.#write('in/spec.json', `${JSON.stringify(merge(base, spec), undefined, 2)}\n`);
    // A value that has the form of a secret is made here: no file of this repository holds one.
    const change = readFileSync(join(at, 'change.diff'), 'utf8');
    const filled = change.replace(
      /\{invented:([a-z-]+)\}/g,
      (_, wanted: string) => inventedSecrets.find(([rule]) => rule === wanted)?.[1] ?? '',
    );
    this.#write('in/change.diff', filled);
    if (advisories !== undefined)
      await this.#take({ writ: `sca import {PROJECT}/fixtures/advisories/${advisories}` }, {});
  }

  async #take(step: Step, env: Values): Promise<void> {
    const { sh, writ, keep, exit = 0 } = step;
    const wants = typeof keep === 'object' ? '--json ' : '';
    const ended =
      writ === undefined
        ? this.#sh(this.#fill(sh ?? ''), join(this.#root, 'repo'), env)
        : await this.#writ(`${wants}${writ}`, { env });
    if (ended.status !== exit)
      throw new Error(`\`${writ ?? sh}\`: exit ${ended.status}, expected ${exit}: ${ended.out}${ended.err}`);
    if (typeof keep === 'string') {
      if (ended.out.trim() === '') throw new Error(`\`${sh}\` printed nothing to keep as ${keep}`);
      this.#values[keep] = ended.out.trim();
    }
    for (const [name, path] of Object.entries(typeof keep === 'object' ? keep : {}))
      this.#values[name] = fieldOf(JSON.parse(ended.out), path);
  }

  #write(path: string, text: string): void {
    const target = join(this.#root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }

  #read(path: string): string | undefined {
    const target = join(this.#root, path);
    return existsSync(target) ? readFileSync(target, 'utf8') : undefined;
  }

  /** The last run that a command line named is `{RUN}`. */
  #keepRun(text: string): void {
    const [, inJson, forPeople] = /"run_id": "([0-9a-f-]{36})"|^ *run +([0-9a-f-]{36})$/m.exec(text) ?? [];
    const run = inJson ?? forPeople;
    if (run !== undefined) this.#values.RUN = run;
  }

  /** `{NAME}` becomes the value that a step kept; `{PLACE}`, `{PROJECT}` and `{NODE}` are paths. */
  #fill(text: string): string {
    return text.replace(/\{([A-Z][A-Z0-9_]*)\}/g, (whole, name: string) => {
      if (name === 'PLACE') return this.#root;
      if (name === 'PROJECT') return project.slice(0, -1);
      if (name === 'NODE') return process.execPath;
      if (name.startsWith('SECRET_')) return secretOf(name.slice('SECRET_'.length));
      return this.#values[name] ?? whole;
    });
  }

  #environment(more: Values = {}): Record<string, string> {
    const home = join(this.#root, 'home');
    const filled = Object.entries(more).map(([name, value]) => [name, this.#fill(value)] as const);
    return {
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_STATE_HOME: join(home, '.local/state'),
      XDG_CACHE_HOME: join(home, '.cache'),
      PATH: [join(this.#box, 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
        ':',
      ),
      TMPDIR: join(this.#root, 'tmp'),
      TZ: this.#zone,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_DATE: '2025-05-06T00:00:00Z',
      GIT_COMMITTER_DATE: '2025-05-06T00:00:00Z',
      // What Node compiled of the program is the same for every home.
      NODE_COMPILE_CACHE: join(this.#box, 'compiled'),
      ...Object.fromEntries(filled),
    };
  }

  #sh(script: string, cwd: string, env: Values = {}): Program {
    const { status, signal, stdout, stderr } = runProgram('/bin/sh', ['-c', script], {
      cwd,
      env: this.#environment(env),
    });
    return { status, signal, out: stdout.toString(), err: stderr.toString() };
  }

  #spawn(program: string, args: readonly string[], one: Pick<Case, 'env' | 'cwd'>) {
    return spawn(program, args, {
      cwd: join(this.#root, one.cwd ?? 'repo'),
      env: this.#environment(one.env),
      stdio: 'pipe',
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
  }

  async #writ(line: string, one: Pick<Case, 'env' | 'cwd' | 'stdin' | 'until' | 'signal'>): Promise<Program> {
    const words = wordsOf(line).map((word) => this.#fill(word));
    const child = this.#spawn(
      process.execPath,
      [...startOptions, join(this.#program, 'bin/writ.js'), ...words],
      one,
    );
    const said = listen(child);
    child.stdin.on('error', () => {});
    if (one.until === undefined) child.stdin.end(this.#fill(one.stdin ?? ''));
    else {
      if (one.stdin !== undefined) child.stdin.write(this.#fill(one.stdin));
      const holds = new RegExp(one.until, 'm');
      await until(() => said.hasEnded() || holds.test(said.both()), `\`${one.until}\` of \`${line}\``);
      child.kill(one.signal ?? 'SIGTERM');
    }
    const [status, signal] = await said.ended;
    if (signal === 'SIGKILL') throw new Error(`\`${line}\` does not end: ${said.both()}`);
    return { status, signal, out: said.out(), err: said.err() };
  }

  /** Starts a process that runs beside the command lines; what is returned ends it. */
  async #start(beside: Beside, one: Pick<Case, 'env'>): Promise<() => Promise<void>> {
    const launcher = join(this.#program, 'bin/writ.js');
    const { writ = '', sh } = beside;
    const child =
      sh === undefined
        ? this.#spawn(
            process.execPath,
            [...startOptions, launcher, ...wordsOf(writ).map((word) => this.#fill(word))],
            one,
          )
        : this.#spawn('/bin/sh', ['-c', `exec ${this.#fill(sh)}`], one);
    const said = listen(child);
    const holds = new RegExp(beside.until, 'm');
    await until(() => said.hasEnded() || holds.test(said.both()), `\`${beside.until}\``);
    const [, found] = holds.exec(said.both()) ?? [];
    if (said.hasEnded()) throw new Error(`\`${sh ?? writ}\` ended: ${said.both()}`);
    if (beside.keep !== undefined) this.#values[beside.keep] = found ?? '';
    return async () => {
      child.kill('SIGTERM');
      await said.ended;
    };
  }
}

/** `{SECRET_GITHUB_TOKEN}`: a value that has the form of such a secret. */
function secretOf(name: string): string {
  const wanted = name.toLowerCase().replaceAll('_', '-');
  const found = inventedSecrets.find(([rule]) => rule === wanted);
  if (found === undefined) throw new Error(`no invented secret is called \`${wanted}\``);
  return found[1];
}

/** Words of a command line: spaces separate them, single and double quotes keep them together. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}

function listen(child: ChildProcessWithoutNullStreams) {
  const chunks: { readonly out: Buffer[]; readonly err: Buffer[] } = { out: [], err: [] };
  child.stdout.on('data', (chunk: Buffer) => chunks.out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.err.push(chunk));
  let isOver = false;
  const ended = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => {
      isOver = true;
      resolve([status, signal]);
    });
  });
  const text = (of: 'out' | 'err'): string => Buffer.concat(chunks[of]).toString();
  return {
    ended,
    hasEnded: () => isOver,
    out: () => text('out'),
    err: () => text('err'),
    both: () => `${text('out')}\n${text('err')}`,
  };
}

/** Stdout without these members, where it is one JSON document that has one of them. */
function withoutFields(ended: Program, paths: readonly string[] = []): Program {
  if (paths.length === 0 || !ended.out.startsWith('{')) return ended;
  const document = JSON.parse(ended.out) as unknown;
  for (const path of paths) {
    const steps = path.split('.');
    const name = steps.pop() ?? '';
    let at = document as Record<string, unknown> | undefined;
    for (const step of steps) at = at?.[step] as Record<string, unknown> | undefined;
    if (at?.[name] !== undefined) at[name] = '<omitted>';
  }
  return { ...ended, out: `${JSON.stringify(document, undefined, 2)}\n` };
}

function fieldOf(document: unknown, path: string): string {
  let at = document;
  for (const name of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[name];
  if (at === undefined) throw new Error(`\`${path}\` is not in ${JSON.stringify(document)}`);
  return `${at}`;
}

const found = new Map<string, boolean>();

/** Whether the machine has a program that works: `bwrap` has to open a sandbox. */
function has(need: string): boolean {
  const tries: Readonly<Record<string, string>> = {
    bubblewrap: 'bwrap --unshare-all --ro-bind / / true',
    unshare: 'unshare --user --map-root-user --net --mount --pid --fork true',
    'ssh-keygen': 'command -v ssh-keygen',
    openssl: 'command -v openssl',
    'IPv6 on the loopback': "grep -q '^0\\{31\\}1 ' /proc/net/if_inet6",
  };
  const script = tries[need];
  if (script === undefined) throw new Error(`a case needs \`${need}\`, and nothing says how to look for it`);
  if (!found.has(need)) found.set(need, runProgram('sh', ['-c', script]).status === 0);
  return found.get(need) === true;
}
