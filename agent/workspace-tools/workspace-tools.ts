/* Opens the workspace tools of one attempt. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { FileChange } from '../../core/interfaces/hook-payload.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { HandAnswer, Hands, HandUse } from '../../core/interfaces/worker.ts';
import type { CommandVerdict } from '../../workspace/command-acl/acl.ts';
import { allowRules, refusal } from '../../workspace/command-acl/constraints.ts';
import { joinNetworks, openNetwork } from '../../workspace/egress/command-network.ts';
import { BoundedCapture } from '../../workspace/process/capture.ts';
import { limitedShell, maxMemoryBytes } from '../../workspace/process/find-program.ts';
import {
  isVersionControl,
  versionControlPrograms,
  versionControlStub,
} from '../../workspace/process/version-control.ts';
import {
  deleteWorkspaceFile,
  filesBelow,
  listWorkspaceDirectory,
  readWorkspaceFile,
  writeWorkspaceFile,
} from '../../workspace/process/workspace-file.ts';
import type { AgentRun, CommandBoard } from '../agent-run.ts';
import type { OpenCode } from '../language-servers/code-queries.ts';
import type { ToolPlace, UsedTool } from '../tool-calls/tool-entry.ts';
import {
  type AttemptTools,
  type Leaving,
  openToolEntry,
  type ToEnd,
  toolFailed,
  usualBound,
} from '../tool-calls/tool-entry.ts';
import { answerVcs, type SeenHistory } from '../version-control/answer-vcs.ts';
import type { WriteWatch } from './authorize-use.ts';
import { type AuthorizedUse, authorizeUse, heldBack, toolEnvironment } from './authorize-use.ts';
import { readPart } from './tree-tools.ts';

/**
 * The workspace tools of one attempt, with a record of their calls. Disposing of them stops the commands in the
 * background and starts no more.
 */
export interface OpenWorkspaceTools extends Hands, AsyncDisposable {
  readonly used: readonly UsedTool[];
  /** What the commands had of the network; absent where none was opened to them. */
  network(): CheckNetwork | undefined;
}

/** The workspace of an attempt as its worker gets it; uses wait for each other. */
export function openWorkspaceTools(
  run: AgentRun,
  place: ToolPlace,
  { watch, history, code }: Pick<Means, 'watch' | 'history' | 'code'>,
  tools: AttemptTools,
): OpenWorkspaceTools {
  const networks: CheckNetwork[] = [];
  const door = openToolEntry(tools, usualBound);
  const services = { watch, history, code, mask: tools.mask, networks };
  const background = openBackground(run, place, networks, tools);
  const { allow } = run.identity.contract.effective.security.toolAcl;
  return {
    seesHistory: allowRules(allow, 'vcs', 'read').length > 0,
    used: door.used,
    network: () => joinNetworks(networks),
    use: (wanted) => {
      const judge = (): AuthorizedUse | string => {
        if (wanted.kind === 'command') return background.authorize(wanted, authorizeUse(run, place, wanted));
        const judged = authorizeUse(run, place, wanted);
        const refused = judged.refusal ?? background.refusal(wanted, judged.acl);
        return {
          ...judged,
          ...(refused === undefined ? {} : { refusal: refused }),
          change: () => changeOf(place.workspace, wanted, judged),
        };
      };
      if (wanted.kind !== 'background')
        return door.use(judge, (judged, leaving) =>
          act(run, place, wanted, judged, { ...services, leaving, background }),
        );
      return door.start(judge, (judged, toEnd) => {
        watch.forget();
        return background.start(wanted, judged, toEnd);
      });
    },
    [Symbol.asyncDispose]: background.stopAll,
  };
}

interface Means {
  readonly history: SeenHistory;
  readonly watch: WriteWatch;
  readonly code: OpenCode;
  readonly mask: (text: string) => string;
  readonly networks: CheckNetwork[];
  readonly leaving: Leaving;
  readonly background: Background;
}

async function act(
  run: AgentRun,
  place: ToolPlace,
  wanted: HandUse,
  judged: AuthorizedUse,
  { watch, history, code, mask, networks, leaving, background }: Means,
): Promise<HandAnswer> {
  const isAlone = background.running().length === 0;
  if (wanted.kind === 'execute' || background.hasStarted()) code.touch();
  if (wanted.kind === 'execute') {
    const execute = (): Promise<HandAnswer> =>
      executeInWorkspace(run, place, wanted, judged, { leaving, told: (network) => networks.push(network) });
    // Beside others it is unknown which command wrote a file.
    return isAlone ? watch.around(judged.acl ?? {}, execute) : execute();
  }
  try {
    if (wanted.kind === 'background') throw new TypeError('a command in the background is started elsewhere');
    if (wanted.kind === 'command') return await background.answer(wanted);
    if (wanted.kind === 'vcs') return await askVcs(run, history, judged);
    if (wanted.kind === 'search') return await searchWorkspace(run, place, wanted, judged);
    if (wanted.kind === 'code') {
      const { real, shows = () => true } = judged;
      return await code.ask(wanted, { real, shows });
    }
    if (wanted.kind === 'write' || wanted.kind === 'delete') {
      watch.forget();
      code.touch();
    }
    return await useFiles(place.workspace, wanted, judged, mask);
  } catch (fault) {
    if (!isAlone && isWritError(fault, 'GIT_FAILED')) return { outcome: 'failed', text: changing };
    // The file system's own words name the place of the workspace on this machine.
    const code = (fault as NodeJS.ErrnoException).code;
    if (isWritError(fault) || code === undefined) throw fault;
    return { outcome: 'failed', text: `failed: ${code}` };
  }
}

const changing =
  'failed: files changed while they were read. Try again, or stop the commands in the background first.';

/** Longest time of one question to version control, ms. */
const vcsTimeoutMs = 60_000;

async function askVcs(
  { services: { signal } }: AgentRun,
  history: SeenHistory,
  { question, shows = () => false }: AuthorizedUse,
): Promise<HandAnswer> {
  if (question === undefined) throw new TypeError('a question that was allowed and not read');
  const late = AbortSignal.timeout(vcsTimeoutMs);
  try {
    return await answerVcs(history, question, { shows, signal: AbortSignal.any([signal, late]) });
  } catch (fault) {
    signal.throwIfAborted();
    if (!late.aborted) throw fault;
    return { outcome: 'failed', text: `failed: no answer within ${vcsTimeoutMs / 1000} s; name a path` };
  }
}

/** Of a file that somebody may be shown whole. */
const maxBytes = 1024 * 1024;

/**
 * Returns how a tool call would change a file, from the bytes to write and the existing bytes, so that a person can
 * review it. `undefined` if it changes no file. A file that cannot be shown is reported as such, because it would
 * look like no change.
 */
async function changeOf(
  workspace: string,
  use: HandUse,
  { real }: Pick<AuthorizedUse, 'real'>,
): Promise<FileChange | undefined> {
  if (use.kind !== 'write' && use.kind !== 'delete') return undefined;
  const after = use.kind === 'write' ? { after: use.bytes } : {};
  if (use.kind === 'write' && use.bytes.length > maxBytes) return { unseen: tooLarge(use.bytes.length) };
  try {
    const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxBytes);
    return bytes.length < totalBytes ? { unseen: tooLarge(totalBytes) } : { before: bytes, ...after };
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? after
      : { unseen: `what is there cannot be read (${code ?? 'no plain file'})` };
  }
}

function tooLarge(bytes: number): string {
  return `${bytes} bytes are too many to be shown`;
}

const timeoutMs = 120_000;
const maxFiles = 100_000;
const maxPattern = 4096;

/**
 * Searches the files that the rules let a model see: each is named to `grep`, so that what they hide is not even
 * opened. The expression is a model's, so it is matched in the sandbox, where it cannot hold up anything else.
 */
async function searchWorkspace(
  run: AgentRun,
  place: ToolPlace,
  { pattern }: Extract<HandUse, { readonly kind: 'search' }>,
  { real, shows = () => true }: Pick<AuthorizedUse, 'real' | 'shows'>,
): Promise<HandAnswer> {
  if (pattern.includes('\0') || pattern.length > maxPattern) {
    const text = `failed: expected an expression of at most ${maxPattern} characters, without NUL`;
    return { outcome: 'failed', text };
  }
  const { files, more } = await filesBelow(place.workspace, real, { keep: shows, most: maxFiles });
  const way = await openNetwork(run, { sandbox: run.environment.sandbox }, {});
  try {
    const result = await runSandboxed(run, place, {
      argv: ['xargs', '-0', '-r', 'grep', '-nsHIE', '-e', pattern, '--'],
      stdin: Buffer.from(files.join('\0')),
      network: way.network,
      timeoutMs,
      maxOutputBytes,
    });
    const { exitCode, stderr, timedOut } = result;
    // `xargs` returns 123 if `grep` found no match, which is a valid answer, and if `grep` failed, which leaves text
    // on stderr.
    const isDone = exitCode === 0 || (exitCode === 123 && stderr.totalBytes === 0);
    const notes = [
      ...(more ? [`[searched the first ${maxFiles} files only: name a directory]`] : []),
      ...(timedOut ? [`[ended after ${timeoutMs / 1000} s]`] : []),
    ];
    const text = [textOf(result), ...notes].filter((part) => part !== '').join('\n');
    return { outcome: isDone ? 'done' : 'failed', text };
  } finally {
    await way.close();
  }
}

type FileUse = Extract<HandUse, { readonly kind: 'read' | 'list' | 'write' | 'delete' }>;

/** Limits for a file read in parts, and for a file returned whole. */
const maxReadBytes = 32 * 1024 * 1024;
const maxWholeBytes = 8 * 1024 * 1024;
const maxNames = 2000;

/** Performs an authorized file operation at the path that was checked. Rejects on file system errors. */
async function useFiles(
  workspace: string,
  use: FileUse,
  { real, shows = () => true }: Pick<AuthorizedUse, 'real' | 'shows'>,
  mask: (text: string) => string,
): Promise<HandAnswer> {
  switch (use.kind) {
    case 'read': {
      const { bytes, totalBytes } = await readWorkspaceFile(workspace, real, maxReadBytes);
      if (bytes.length < totalBytes) {
        const text = `failed: ${totalBytes} bytes are too many; search it, or take a part of it with a command`;
        return { outcome: 'failed', text };
      }
      const part = readPart(bytes, use, mask);
      return part.outcome === 'failed' || totalBytes > maxWholeBytes ? part : { ...part, bytes };
    }
    case 'list': {
      const keep = (path: string) => path !== '.git' && shows(path);
      const { names, more } = await listWorkspaceDirectory(workspace, real, { keep, most: maxNames });
      return { outcome: 'done', text: names.join('\n') + (more ? `\n[cut at ${maxNames} names]` : '') };
    }
    case 'write':
      await writeWorkspaceFile(workspace, real, use.bytes);
      return { outcome: 'done', text: `written: ${use.bytes.length} bytes` };
    case 'delete':
      await deleteWorkspaceFile(workspace, real);
      return { outcome: 'done', text: 'deleted' };
  }
}

/**
 * Returns a function that writes, once, the stubs that replace version control in an attempt's sandbox, and returns
 * their directory.
 */
export function writeStubs(place: string): () => Promise<string> {
  const write = async (): Promise<string> => {
    const stubs = join(place, 'stubs');
    await mkdir(stubs);
    for (const name of versionControlPrograms)
      await writeFile(join(stubs, name), versionControlStub, { mode: 0o755, flag: 'wx' });
    return stubs;
  };
  let written: Promise<string> | undefined;
  return () => (written ??= write());
}

/** What a model reads of a command's output at most; both ends are kept. */
const maxOutputBytes = 64 * 1024;
const defaultTimeoutSeconds = 120;
const maxTimeoutSeconds = 1800;

/** How one command is run. */
interface Execution {
  /** Network access waits for it. */
  readonly leaving: Leaving;
  /** Receives its network use. */
  readonly told: (network: CheckNetwork) => void;
  /** Of a command in the background: receives its output, stops it, and receives how it ended. */
  readonly heard?: (chunk: Uint8Array) => void;
  readonly stop?: AbortSignal;
  readonly ended?: (how: string) => void;
}

/** Runs shell text in the sandbox, in the workspace itself. */
async function executeInWorkspace(
  run: AgentRun,
  place: ToolPlace,
  { command, timeoutSeconds: wanted = defaultTimeoutSeconds }: Extract<HandUse, { readonly kind: 'execute' }>,
  { acl = {} }: Pick<AuthorizedUse, 'acl'>,
  { leaving, told, heard, stop, ended }: Execution,
): Promise<HandAnswer> {
  const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);
  const way = await openNetwork(run, { sandbox: run.environment.sandbox }, acl, leaving);
  let network: CheckNetwork | undefined;
  const result = await runSandboxed(run, place, {
    argv: limitedShell(command, acl.maxWriteBytes),
    network: way.network,
    timeoutMs: timeoutSeconds * 1000,
    maxOutputBytes: outputBound(acl),
    ...(heard === undefined ? {} : { heard }),
    ...(stop === undefined ? {} : { signal: stop }),
  }).finally(async () => {
    network = await way.close();
    if (network !== undefined) told(network);
  });
  const { exitCode, timedOut, aborted } = result;
  ended?.(endOf(result, timeoutSeconds));
  const notes = timedOut ? [`[ended after ${timeoutSeconds} s]`] : [];
  const text = textOf(result);
  const held =
    run.environment.sandbox.unconfined || exitCode === 0 || aborted ? undefined : heldBack(text, network);
  return {
    // A command that the model or the end of its attempt stopped has not failed, and has no exit code.
    outcome: exitCode === 0 || aborted ? 'done' : 'failed',
    text: [text, ...notes].filter((part) => part !== '').join('\n'),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(held === undefined ? {} : { heldBack: held }),
  };
}

function outputBound({ maxOutputBytes: most = maxOutputBytes }: CommandVerdict): number {
  return Math.min(most, maxOutputBytes);
}

function endOf({ exceeded, exitCode, timedOut, aborted, signal }: SandboxResult, seconds: number): string {
  if (exceeded) return `ended: ${exceeded.what} beyond ${exceeded.limit}`;
  if (exitCode !== undefined) return `exit code ${exitCode}`;
  if (timedOut) return `ended after ${seconds} s`;
  return aborted ? 'stopped' : `ended by ${signal}`;
}

/** Commands that run in the background at once, and of how many the end is known. */
const maxRunning = 4;
const maxListed = 16;
const maxCommandShown = 200;

interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly output: RunningOutput;
  readonly stopping: AbortController;
  /** Never rejects. */
  ended: Promise<void>;
  /** How it ended; absent while it runs. */
  how?: string;
}

/** The commands of one attempt that run while its model goes on. Each has a sandbox of its own on the workspace. */
type Background = ReturnType<typeof openBackground>;

function openBackground(
  run: AgentRun,
  place: ToolPlace,
  networks: CheckNetwork[],
  tools: Pick<AttemptTools, 'broke' | 'signal' | 'mask'>,
) {
  const board = run.services.settings.commands;
  const commands = new Map<string, BackgroundCommand>();
  let started = 0;
  let isOver = false;
  const running = (): readonly BackgroundCommand[] =>
    [...commands.values()].filter(({ how }) => how === undefined);
  return {
    running,
    hasStarted: () => started > 0,
    /** Why a command is not run beside those that run. */
    refusal({ kind }: HandUse, { writeRoots }: CommandVerdict = {}): Finding | undefined {
      const others = running().length;
      const refused = (why: string) => refusal(why, { reason: 'background' });
      if (kind === 'background' && isOver) return refused('the attempt has ended');
      if (kind === 'background' && others >= maxRunning)
        return refused(`${maxRunning} commands run in the background, which is the most. Stop one first`);
      if (writeRoots === undefined || (kind === 'execute' && others === 0)) return undefined;
      return refused(
        'the rule that allows the command has `writeRoots`, and writ cannot attribute writes to one of several commands. Run it alone, not in the background',
      );
    },
    /** Adds the command that a use concerns; a text if there is none. */
    authorize(
      { action, id = '' }: Extract<HandUse, { readonly kind: 'command' }>,
      judged: AuthorizedUse,
    ): AuthorizedUse | string {
      if (action === 'list') return judged;
      const command = commands.get(id)?.command;
      if (command === undefined) return `there is no command ${quoted(id)} in the background`;
      return { ...judged, request: { ...judged.request, command } };
    },
    start(
      { command, timeoutSeconds = maxTimeoutSeconds }: Extract<HandUse, { readonly kind: 'background' }>,
      { acl = {} }: Pick<AuthorizedUse, 'acl'>,
      toEnd: ToEnd,
    ): HandAnswer {
      started += 1;
      const id = String(started);
      const stopping = new AbortController();
      if (isOver) stopping.abort();
      const output = openRunningOutput(outputBound(acl));
      // What the model has looked at is new to the person.
      const shown = openRunningOutput(outputBound(acl));
      const one: BackgroundCommand = { id, command, output, stopping, ended: Promise.resolve() };
      board?.add({
        command,
        how: () => one.how,
        printed: () => tools.mask(shown.take(one.how !== undefined)),
        async stop() {
          stopping.abort();
          await one.ended;
        },
      });
      commands.set(id, one);
      const oldest = [...commands.values()].find(({ how }) => how !== undefined);
      if (commands.size > maxListed && oldest !== undefined) commands.delete(oldest.id);
      let how = '';
      const ended = toEnd((leaving) =>
        executeInWorkspace(
          run,
          place,
          { kind: 'execute', command, timeoutSeconds },
          { acl },
          {
            leaving,
            told: (network) => networks.push(network),
            heard: (chunk) => {
              output.heard(chunk);
              shown.heard(chunk);
            },
            stop: stopping.signal,
            ended: (text) => (how = text),
          },
        ),
      );
      one.ended = ended.then(
        () => {
          one.how = how;
        },
        (cause) => {
          const fault = isWritError(cause) ? cause : toolFailed('a command in the background', '', cause);
          one.how = `failed: ${fault.code}`;
          if (!tools.signal.aborted) tools.broke?.(fault);
        },
      );
      return { outcome: 'done', text: `started in the background as command ${id}` };
    },
    async answer({ action, id = '' }: Extract<HandUse, { readonly kind: 'command' }>): Promise<HandAnswer> {
      if (action === 'list') {
        const lines = [...commands.values()].map(
          (one) => `${one.id}\t${one.how ?? 'running'}\t${one.command.slice(0, maxCommandShown)}`,
        );
        return { outcome: 'done', text: lines.join('\n') };
      }
      const one = commands.get(id);
      if (one === undefined) throw new TypeError('a command that was allowed and is not there');
      if (action === 'stop') {
        one.stopping.abort();
        await one.ended;
      }
      const { how } = one;
      const text = [one.output.take(how !== undefined), `[${how ?? 'running'}]`];
      return { outcome: 'done', text: text.filter((part) => part !== '').join('\n') };
    },
    async stopAll(): Promise<void> {
      isOver = true;
      for (const { stopping } of running()) stopping.abort();
      for (const { ended } of commands.values()) await ended;
    },
  };
}

/** Opens the board of a session. Of the commands that have ended, the oldest are dropped. */
export function openCommandBoard(): CommandBoard {
  let all: ReturnType<CommandBoard['list']> = [];
  let added = 0;
  return {
    add(one) {
      added += 1;
      const oldest = all.length < maxListed ? undefined : all.find(({ how }) => how() !== undefined);
      all = [...all.filter((other) => other !== oldest), { ...one, id: String(added) }];
    },
    list: () => all,
  };
}

/** What a running command printed since the last look, bounded. */
interface RunningOutput {
  readonly heard: (chunk: Uint8Array) => void;
  /** Of a command that still runs whole lines only, because a part of a secret could not be recognised. */
  take(isWhole: boolean): string;
}

function openRunningOutput(maxBytes: number): RunningOutput {
  let capture = new BoundedCapture(maxBytes);
  return {
    heard: (chunk) => capture.push(chunk),
    take(isWhole) {
      const { bytes, totalBytes, truncated } = capture.finish();
      const end = isWhole ? bytes.length : bytes.lastIndexOf(10) + 1;
      capture = new BoundedCapture(maxBytes);
      capture.push(bytes.subarray(end));
      const parts = [
        bytes.toString('utf8', 0, end).replace(/\n$/, ''),
        ...(truncated ? [`[cut: ${totalBytes} bytes since the last look]`] : []),
        ...(end < bytes.length ? ['[the last line is not complete yet]'] : []),
      ];
      return parts.filter((part) => part !== '').join('\n');
    },
  };
}

type Asked = Parameters<AgentRun['environment']['sandbox']['run']>[0];

/** Runs words in the sandbox of the run, with what every command of a worker has. */
async function runSandboxed(
  run: AgentRun,
  place: ToolPlace,
  asked: Pick<Asked, 'argv' | 'network' | 'timeoutMs' | 'maxOutputBytes' | 'stdin' | 'heard' | 'signal'>,
): Promise<SandboxResult> {
  const { sandbox, config } = run.environment;
  const { signal } = run.services;
  const result = await sandbox.run({
    ...asked,
    workspace: place.workspace,
    reports: place.reports,
    binds: [],
    withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
    env: toolEnvironment(run, place),
    maxMemoryBytes: maxMemoryBytes(config),
    signal: asked.signal === undefined ? signal : AbortSignal.any([signal, asked.signal]),
  });
  signal.throwIfAborted();
  return result;
}

/** What was printed, and what is missing of it. */
export function textOf({ combined, exceeded }: SandboxResult): string {
  const notes = [
    ...(combined.truncated ? [`[cut: ${combined.totalBytes} bytes in all]`] : []),
    ...(exceeded ? [`[ended: ${exceeded.what} beyond ${exceeded.limit}]`] : []),
  ];
  return [combined.bytes.toString('utf8'), ...notes].filter((part) => part !== '').join('\n');
}
