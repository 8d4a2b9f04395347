/* Runs an external agent in the sandbox of one attempt, and takes its session log. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { compileGlob } from '../../core/base/glob.ts';
import { printable, quoted } from '../../core/base/printable.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { SandboxBind, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { ExternalAgent, TaskOrder, WorkResult } from '../../core/interfaces/worker.ts';
import { forwarderInside, wayAddress } from '../../workspace/egress/open-egress.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import { filesBelow, readWorkspaceFile } from '../../workspace/process/workspace-file.ts';
import type { AgentRun } from '../agent-run.ts';
import { taskInstructions } from '../instructions.ts';
import type { TurnsOfTask, TurnsUsed } from '../model-loop/model-turns.ts';
import type { OpenExternal, OpenModel } from '../model-loop/open-model.ts';
import { type AttemptTools, openToolEntry, type ToolPlace, usualBound } from '../tool-calls/tool-entry.ts';
import { authorizeUse, toolEnvironment, type WriteWatch } from '../workspace-tools/authorize-use.ts';
import { type AgentRecipe, agentCommand, findProgramOf, requireModelRule } from './recipes.ts';
import { openRelay, placeholderKey, rootOf } from './relay.ts';

/** An external agent for one attempt. */
export interface OpenExternalAgent {
  /** Runs it once. Throws AGENT_ errors: the run is kept, and no repair starts. */
  work(order: TaskOrder): Promise<WorkResult>;
  taken(): TurnsUsed;
  network(): CheckNetwork;
  close(): Promise<void>;
}

type ExternalModel = OpenModel & { readonly external: OpenExternal };

interface ExternalSetting extends TurnsOfTask {
  readonly place: ToolPlace;
  readonly tools: AttemptTools;
  readonly watch: WriteWatch;
  readonly unitsLeft?: number | undefined;
  /** Records a session log, redacted; returns its SHA-256. */
  readonly keepLog: (bytes: Uint8Array, number: number) => Promise<string>;
}

/** Where the agent's program and its home are inside. */
const [agentInside, homeInside] = ['/agent', '/agent-home'];
const maxOutputBytes = 1024 * 1024;
const [maxLogs, maxLogBytes] = [32, 32 * 1024 * 1024];
const exportTimeoutMs = 60_000;
/** Replaced in the agent's arguments by the text of the Task. */
const taskWord = '{task}';

/** Opens the relay and the cell of one attempt. Throws AGENT_UNAVAILABLE, AGENT_RULE_MISSING. */
export async function openExternalAgent(
  run: AgentRun & Parameters<typeof openRelay>[0],
  agent: ExternalAgent,
  model: ExternalModel,
  setting: ExternalSetting,
): Promise<OpenExternalAgent> {
  const { place, tools, watch, keepLog } = setting;
  const { sandbox, config } = run.environment;
  const { recipe, base } = model.external;
  const openings = requireModelRule(run.identity.contract.effective, agent, base, sandbox);
  const found = await findExternal(agent, recipe);
  const relay = await openRelay(run, model, { ...setting, openings, program: found.about });
  const door = openToolEntry(tools, usualBound);
  const home = join(dirname(place.workspace), 'agent-home');
  const baseInside = `${wayAddress}${new URL(base).pathname.replace(/\/$/, '')}`;
  const values: Readonly<Record<string, string>> = {
    base: baseInside,
    root: rootOf(baseInside),
    key: placeholderKey,
    model: model.model,
  };

  const start = async (
    args: readonly string[],
    more: {
      readonly network: 'none' | typeof relay.network;
      readonly timeoutMs: number;
      readonly most: number;
    },
  ): Promise<SandboxResult> => {
    const { maxWriteBytes } = authorizeUse(run, place, use).acl ?? {};
    const result = await sandbox.run({
      argv: ['sh', '-c', cellScript, 'sh', toBlocks(maxWriteBytes), ...found.words, ...args],
      workspace: place.workspace,
      reports: place.reports,
      binds: [found.bind, { source: home, target: homeInside, writable: true }],
      env: { ...toolEnvironment(run, place), ...mapped(recipe.env, (text) => fill(text, values)) },
      network: more.network,
      untraced: true,
      withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
      timeoutMs: more.timeoutMs,
      maxOutputBytes: more.most,
      maxMemoryBytes: maxMemoryBytes(config),
      signal: run.services.signal,
    });
    run.services.signal.throwIfAborted();
    return result;
  };
  const use = { kind: 'execute', command: agentCommand(agent) } as const;

  const workInCell = async (order: TaskOrder): Promise<SandboxResult> => {
    await mkdir(home, { mode: 0o700 });
    for (const [path, text] of Object.entries(recipe.files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), fill(text, mapped(values, inQuotes)), { mode: 0o600 });
    }
    const task = taskInstructions(order);
    const args = agent.argv.slice(1).map((word) => word.replaceAll(taskWord, () => task));
    const timeoutMs = recipe.deadlineSeconds * 1000;
    return start(args, { network: relay.network, timeoutMs, most: maxOutputBytes });
  };

  return {
    async work(order) {
      let result: SandboxResult | undefined;
      const answer = await door.use(
        () => ({ ...authorizeUse(run, place, use), real: '.' }),
        async ({ acl = {} }) =>
          watch.around(acl, async () => {
            result = await workInCell(order);
            const { exitCode } = result;
            const text = result.combined.bytes.toString('utf8');
            return {
              outcome: exitCode === 0 ? 'done' : 'failed',
              text,
              ...(exitCode === undefined ? {} : { exitCode }),
            };
          }),
      );
      if (result === undefined) return { kind: 'nothing', reason: answer.text.slice(0, 2000), usage };
      if (result.timedOut) throw late(found.about.name, recipe, relay.failure());
      if (result.exitCode !== 0) throw failed(found.about.name, result, relay.failure(), tools.mask);
      if (relay.taken().turns === 0)
        throw new WritError('AGENT_NOTHING_CAPTURED', {
          message: `${quoted(found.about.name)} ended without a request to its model through the relay`,
          detail: { what: 'requests', recipe: recipe.name },
        });
      const logs =
        recipe.export === undefined
          ? await readLogs(home, recipe)
          : [
              await exportLog(recipe.export, result, (args) =>
                start(args, { network: 'none', timeoutMs: exportTimeoutMs, most: 2 * maxLogBytes }),
              ),
            ];
      for (const [index, bytes] of logs.entries()) relay.addLog(await keepLog(bytes, index + 1));
      return { kind: 'workspace', usage };
    },
    taken: relay.taken,
    network: relay.connections,
    close: relay.close,
  };
}

/** The engine counts what the model costs. */
const usage = { costUnits: 0 };

/** Arguments: blocks of 512 bytes that a file may have, or none for no limit; then the words of the agent. */
const cellScript = `[ -z "$1" ] || ulimit -f "$1" || exit; shift; HOME=${homeInside}; export HOME; exec "$@" </dev/null`;

function toBlocks(maxWriteBytes: number | undefined): string {
  return maxWriteBytes === undefined ? '' : String(Math.floor(maxWriteBytes / 512));
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(base|root|key|model)\}/g, (_all, name: string) => values[name] ?? '');
}

/** As a string of JSON and TOML holds it. */
function inQuotes(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function mapped(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function causeOf(fault: WritError | undefined): string {
  return fault === undefined ? '' : `: ${fault.message}`;
}

function late(
  name: string,
  { name: recipe, deadlineSeconds }: OpenExternal['recipe'],
  fault: WritError | undefined,
): WritError {
  return new WritError('AGENT_DEADLINE', {
    message: `${quoted(name)} ran longer than the ${deadlineSeconds} s of its recipe \`${recipe}\`, and was ended${causeOf(fault)}`,
    detail: { recipe, deadlineSeconds },
  });
}

const maxSaid = 300;

function failed(
  name: string,
  { exitCode, signal, exceeded, combined }: SandboxResult,
  fault: WritError | undefined,
  mask: (text: string) => string,
): WritError {
  const how =
    exceeded !== undefined
      ? `held more ${exceeded.what} than ${exceeded.limit}`
      : exitCode === undefined
        ? `was ended by ${signal}`
        : `ended with exit code ${exitCode}`;
  // Mask before truncating: a truncated secret would not be recognised.
  const said = printable(mask(combined.bytes.toString('utf8')).trim().slice(-maxSaid)).trim();
  return new WritError('AGENT_FAILED', {
    message: `${quoted(name)} ${how}${causeOf(fault)}${said === '' ? '' : `; its last words: ${said}`}`,
    detail: { ...(exitCode === undefined ? {} : { exit_code: exitCode }) },
  });
}

/** The agent's program as the sandbox shows it, and what a provenance names of it. */
interface FoundExternal {
  readonly words: readonly string[];
  readonly bind: SandboxBind;
  readonly about: NonNullable<ModelWork['program']>;
}

/**
 * Finds the program. A native program, and a script outside `node_modules`, is shown alone. A script of an npm package
 * is shown with the outermost `node_modules` around it, and runs with the Node that runs writ.
 */
async function findExternal(
  agent: ExternalAgent,
  recipe: AgentRecipe & { readonly name: string },
): Promise<FoundExternal> {
  const found = findProgramOf(agent, recipe);
  const { source } = found.bind;
  const file =
    found.bind.target === found.program
      ? source
      : join(source, posix.relative(found.bind.target, found.program));
  const { sha256, interpreter } = await readProgram(file);
  const about = {
    name: printable(posix.basename(agent.argv[0] ?? '')).slice(0, 128),
    ...packageVersion(file),
    sha256,
    recipe: recipe.name,
  };
  const isScript = /\.[cm]?js$/.test(file) || interpreter.includes('node');
  const modules = /^(.*?\/node_modules)\//.exec(file)?.[1];
  if (!isScript) return { words: [found.program], bind: found.bind, about };
  if (modules === undefined) return { words: [forwarderInside, found.program], bind: found.bind, about };
  const target = `${agentInside}/node_modules`;
  return {
    words: [forwarderInside, join(target, file.slice(modules.length))],
    bind: { source: modules, target, writable: false },
    about,
  };
}

/** The version of the npm package that holds the program, if there is one. */
function packageVersion(file: string): { readonly version?: string } {
  for (let at = dirname(file); at !== dirname(at) && at.includes('/node_modules/'); at = dirname(at)) {
    try {
      const { version } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { version?: unknown };
      if (typeof version === 'string' && /^[\x21-\x7e]{1,64}$/.test(version)) return { version };
    } catch {
      // Not the directory of the package.
    }
  }
  return {};
}

/** SHA-256 of a file, and its first line if it names the interpreter of a script. */
async function readProgram(file: string): Promise<{ readonly sha256: string; readonly interpreter: string }> {
  const hash = createHash('sha256');
  let interpreter: string | undefined;
  for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(part);
    interpreter ??= part.toString('latin1', 0, 128).split('\n', 1)[0] ?? '';
  }
  return {
    sha256: hash.digest('hex'),
    interpreter: interpreter?.startsWith('#!') === true ? interpreter : '',
  };
}

/**
 * Reads the session logs of the agent's home. No process of the agent runs any more, and no symlink is followed.
 * Throws AGENT_NOTHING_CAPTURED, AGENT_LOG_UNUSABLE.
 */
async function readLogs(
  home: string,
  { name, log = '' }: AgentRecipe & { readonly name: string },
): Promise<readonly Uint8Array[]> {
  const parts = log.split('/').map(compileGlob);
  const keep = (path: string): boolean =>
    path.split('/').every((part, index) => parts[index]?.matches(part) === true);
  const below = await filesBelow(home, '.', { keep: (path) => path === '.' || keep(path), most: maxLogs });
  const files = below.files.filter((path) => path.split('/').length === parts.length);
  if (below.more) throw unusable(name, 'too-many', `there are more than ${maxLogs}`);
  const logs: Uint8Array[] = [];
  for (const path of files) {
    const { bytes, totalBytes } = await readWorkspaceFile(home, path, maxLogBytes);
    if (totalBytes > maxLogBytes) throw unusable(name, 'too-large', `one has ${totalBytes} bytes`);
    if (bytes.length > 0) logs.push(bytes);
  }
  if (logs.length > 0) return logs;
  throw new WritError('AGENT_NOTHING_CAPTURED', {
    message: `the agent left no session log: no plain file in its home matches ${quoted(log)} of the recipe \`${name}\``,
    detail: { what: 'log', recipe: name, log },
  });
}

/** Has the agent print its log, if it keeps the log in a database. */
async function exportLog(
  words: readonly string[],
  { stdout }: SandboxResult,
  start: (args: readonly string[]) => Promise<SandboxResult>,
): Promise<Uint8Array> {
  const session = /"sessionID"\s*:\s*"([\w-]{1,128})"/.exec(stdout.bytes.toString('utf8'))?.[1];
  const result =
    session === undefined ? undefined : await start(words.map((word) => word.replace('{session}', session)));
  if (result?.stdout.truncated)
    throw unusable('export', 'too-large', `it has ${result.stdout.totalBytes} bytes`);
  if (result?.exitCode === 0 && result.stdout.totalBytes > 0) return result.stdout.bytes;
  throw new WritError('AGENT_NOTHING_CAPTURED', {
    message:
      session === undefined
        ? 'the output of the agent names no session, so that its log cannot be exported'
        : 'the agent did not export the log of its session',
    detail: { what: 'log' },
    hints: ['have it print JSON: `opencode run --format json "…"`'],
  });
}

function unusable(recipe: string, reason: string, why: string): WritError {
  return new WritError('AGENT_LOG_UNUSABLE', {
    message: `the session logs of the agent are not recorded: ${why}`,
    detail: { recipe, reason },
  });
}
