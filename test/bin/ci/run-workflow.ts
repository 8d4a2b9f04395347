import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { outputOf } from '../../starter/run-program.ts';
import type { ActionsLibrary } from './actions-library.ts';

const yaml = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };

export const root = new URL('../../..', import.meta.url).pathname;

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'continue-on-error'?: boolean;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

export interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly if?: string; readonly steps: readonly Step[] }>>;
}

/** A file of ours, or, by its absolute path, any other. */
export function readYaml<T>(path: string): T {
  return yaml.load(readFileSync(resolve(root, path), 'utf8')) as T;
}

/** What an ephemeral runner is given, and what stands around it. */
export interface Runner {
  /** A new directory: home, working directory and temporary directory of the runner are made in it. */
  readonly directory: string;
  readonly origin: string;
  /** The token of the job. */
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  /** `github`, `inputs`, `secrets` and so on, as expressions see them. */
  readonly contexts: Readonly<Record<string, unknown>>;
  /** The payload of the event. */
  readonly event: object;
  /** Uploaded artifacts, by name. */
  readonly artifacts: string;
  /** Inputs of our action that a reader of the page would set otherwise. */
  readonly changed?: Readonly<Record<string, string>>;
  /** Called with each SARIF file; a fault fails its step. */
  readonly uploadSarif?: (text: string) => void;
}

export interface JobEnd {
  readonly ok: boolean;
  readonly log: string;
  /** Names of the steps that ran, and failed with `!`. */
  readonly steps: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly work: string;
  readonly home: string;
  readonly temp: string;
}

/**
 * Runs the job of a shipped workflow as a runner does: every `run:` of it and of our action in bash, other actions by
 * stand-ins, conditions and expressions by GitHub's library.
 */
export async function runWorkflow(library: ActionsLibrary, file: string, runner: Runner): Promise<JobEnd> {
  const { jobs } = readYaml<Workflow>(file);
  const [job] = Object.values(jobs);
  if (job === undefined) throw new Error(`${file} has no job`);
  const base = mkdtempSync(join(runner.directory, 'runner-'));
  const [work, home, temp] = ['work', 'home', 'temp'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [work, home, temp]) mkdirSync(path);
  writeFileSync(join(base, 'event.json'), JSON.stringify(runner.event));
  const steps: string[] = [];
  let log = '';
  let ok = true;
  const env = {
    ...runner.env,
    HOME: home,
    RUNNER_TEMP: temp,
    GITHUB_EVENT_PATH: join(base, 'event.json'),
    GITHUB_STEP_SUMMARY: join(base, 'summary.md'),
  };

  const runSteps = async (
    list: readonly Step[],
    contexts: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, { readonly outputs: Readonly<Record<string, string>> }>>> => {
    const done: Record<string, { readonly outputs: Readonly<Record<string, string>> }> = {};
    for (const step of list) {
      const here = { ...contexts, steps: done };
      const fill = (text: string): string =>
        String(text).replace(/\$\{\{(.*?)\}\}/gs, (_, found: string) =>
          String(library.evaluate(found, here)),
        );
      const name = step.name ?? step.uses ?? '';
      const isWanted = step.if === undefined ? ok : library.evaluate(step.if, here) === true;
      if (!isWanted || (!ok && !/always\(\)/.test(step.if ?? ''))) continue;
      const given = Object.fromEntries(
        Object.entries(step.with ?? {}).map(([key, value]) => [key, fill(String(value))]),
      );
      let end: { readonly ok: boolean; readonly outputs: Readonly<Record<string, string>> };
      try {
        end = step.run === undefined ? await use(step.uses ?? '', given, here) : await shell(step, fill);
      } catch (fault) {
        log += `${name}: ${(fault as Error).message}\n`;
        end = { ok: false, outputs: {} };
      }
      steps.push(`${end.ok ? '' : '!'}${name}`);
      if (step.id !== undefined) done[step.id] = { outputs: end.outputs };
      if (!end.ok && step['continue-on-error'] !== true) ok = false;
    }
    return done;
  };

  const shell = async (step: Step, fill: (text: string) => string) => {
    const script = join(mkdtempSync(join(base, 'step-')), 'script.sh');
    if (/\$\{\{/.test(step.run ?? '')) throw new Error('an expression in a script');
    writeFileSync(script, step.run ?? '');
    const output = `${script}.output`;
    writeFileSync(output, '');
    const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([key, value]) => [key, fill(value)]));
    const args = ['--noprofile', '--norc', '-e', '-o', 'pipefail', script];
    const child = spawn('bash', args, { cwd: work, env: { ...env, ...own, GITHUB_OUTPUT: output } });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { ok: code === 0, outputs: readOutputs(readFileSync(output, 'utf8')) };
  };

  let outputs: Readonly<Record<string, string>> = {};
  const use = async (
    uses: string,
    given: Readonly<Record<string, string>>,
    contexts: Readonly<Record<string, unknown>>,
  ) => {
    const none = { ok: true, outputs: {} };
    if (uses === 'OWNER/writ@COMMIT' || uses.startsWith('./')) {
      // An action of the repository itself is the one that was checked out.
      const action = readYaml<Action>(uses.startsWith('./') ? join(work, uses, 'action.yml') : 'action.yml');
      const inputs: Record<string, string> = {};
      for (const [key, { default: usual = '' }] of Object.entries(action.inputs))
        inputs[key] =
          runner.changed?.[key] ?? given[key] ?? usual.replace(/\$\{\{ github\.token \}\}/, runner.token);
      for (const key of Object.keys(given)) if (!(key in inputs)) throw new Error(`no input \`${key}\``);
      const own = { ...contexts, inputs, steps: {} };
      const done = await runSteps(action.runs.steps, own);
      outputs = Object.fromEntries(
        Object.entries(action.outputs).map(([key, { value }]) => [
          key,
          String(library.evaluate(value.replace(/^\$\{\{|\}\}$/g, ''), { ...own, steps: done })),
        ]),
      );
      return { ok, outputs };
    }
    if (uses.startsWith('actions/checkout@')) {
      const git = (...args: readonly string[]) => outputOf('git', args, { cwd: work, env });
      git(
        'clone',
        '-q',
        '--no-local',
        ...(given['fetch-depth'] === '0' ? [] : ['--depth=1']),
        `file://${runner.origin}`,
        '.',
      );
      if (given.ref !== undefined) {
        git('fetch', '-q', 'origin', '+refs/pull/*:refs/remotes/pull/*');
        git('checkout', '-q', '--detach', given.ref);
      }
      return none;
    }
    if (uses.startsWith('actions/setup-node@')) return none;
    if (uses.startsWith('actions/upload-artifact@')) {
      cpSync(given.path ?? '', join(runner.artifacts, given.name ?? ''), { recursive: true });
      return none;
    }
    if (uses.startsWith('actions/download-artifact@')) {
      cpSync(join(runner.artifacts, given.name ?? ''), join(work, given.path ?? ''), { recursive: true });
      return none;
    }
    if (uses.startsWith('github/codeql-action/upload-sarif@')) {
      runner.uploadSarif?.(readFileSync(given.sarif_file ?? '', 'utf8'));
      return none;
    }
    throw new Error(`no stand-in for ${uses}`);
  };

  const contexts = { runner: { os: 'Linux' }, ...runner.contexts };
  if (job.if !== undefined && library.evaluate(job.if, contexts) !== true)
    return { ok: true, log: '', steps: ['skipped'], outputs: {}, work, home, temp };
  await runSteps(job.steps, contexts);
  return { ok, log, steps, outputs, work, home, temp };
}

/** The format of GITHUB_OUTPUT: `name=value`, or `name<<END`, lines, `END`. */
function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, name, end] = /^([\w-]+)<<(\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const last = lines.indexOf(end ?? '', at + 1);
      outputs[name] = lines.slice(at + 1, last).join('\n');
      at = last;
    } else if (line.includes('='))
      outputs[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
  }
  return outputs;
}

/** All files below a directory. */
export function filesBelow(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
