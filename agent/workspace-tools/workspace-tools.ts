/* Opens the workspace tools of one attempt. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import type { FileChange } from '../../core/interfaces/hook-payload.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { HandAnswer, Hands, HandUse } from '../../core/interfaces/worker.ts';
import { allowRules } from '../../workspace/command-acl/constraints.ts';
import { joinNetworks, openNetwork } from '../../workspace/egress/command-network.ts';
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
import type { AgentRun } from '../agent-run.ts';
import type { OpenCode } from '../language-servers/code-queries.ts';
import type { ToolPlace, UsedTool } from '../tool-calls/tool-entry.ts';
import { type AttemptTools, type Leaving, openToolEntry, usualBound } from '../tool-calls/tool-entry.ts';
import { answerVcs, type SeenHistory } from '../version-control/answer-vcs.ts';
import type { WriteWatch } from './authorize-use.ts';
import { type AuthorizedUse, authorizeUse, heldBack, toolEnvironment } from './authorize-use.ts';
import { readPart } from './tree-tools.ts';

/** The workspace tools of one attempt, with a record of their calls. */
export interface OpenWorkspaceTools extends Hands {
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
  const { allow } = run.identity.contract.effective.security.toolAcl;
  return {
    seesHistory: allowRules(allow, 'vcs', 'read').length > 0,
    used: door.used,
    network: () => joinNetworks(networks),
    use: (wanted) =>
      door.use(
        () => {
          const judged = authorizeUse(run, place, wanted);
          return { ...judged, change: () => changeOf(place.workspace, wanted, judged) };
        },
        (judged, leaving) => act(run, place, wanted, judged, { ...services, leaving }),
      ),
  };
}

interface Means {
  readonly history: SeenHistory;
  readonly watch: WriteWatch;
  readonly code: OpenCode;
  readonly mask: (text: string) => string;
  readonly networks: CheckNetwork[];
  readonly leaving: Leaving;
}

async function act(
  run: AgentRun,
  place: ToolPlace,
  wanted: HandUse,
  judged: AuthorizedUse,
  { watch, history, code, mask, networks, leaving }: Means,
): Promise<HandAnswer> {
  if (wanted.kind === 'execute') {
    code.touch();
    return watch.around(judged.acl ?? {}, () =>
      executeInWorkspace(run, place, wanted, judged, { leaving, told: (network) => networks.push(network) }),
    );
  }
  try {
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
    // The file system's own words name the place of the workspace on this machine.
    const code = (fault as NodeJS.ErrnoException).code;
    if (isWritError(fault) || code === undefined) throw fault;
    return { outcome: 'failed', text: `failed: ${code}` };
  }
}

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

/**
 * Runs shell text in the sandbox, in the workspace itself. `told` receives its network use; network access waits for
 * `leaving`.
 */
async function executeInWorkspace(
  run: AgentRun,
  place: ToolPlace,
  { command, timeoutSeconds: wanted = defaultTimeoutSeconds }: Extract<HandUse, { readonly kind: 'execute' }>,
  { acl = {} }: Pick<AuthorizedUse, 'acl'>,
  { leaving, told }: { readonly leaving: Leaving; readonly told: (network: CheckNetwork) => void },
): Promise<HandAnswer> {
  const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);
  const way = await openNetwork(run, { sandbox: run.environment.sandbox }, acl, leaving);
  let network: CheckNetwork | undefined;
  const result = await runSandboxed(run, place, {
    argv: limitedShell(command, acl.maxWriteBytes),
    network: way.network,
    timeoutMs: timeoutSeconds * 1000,
    maxOutputBytes: Math.min(acl.maxOutputBytes ?? maxOutputBytes, maxOutputBytes),
  }).finally(async () => {
    network = await way.close();
    if (network !== undefined) told(network);
  });
  const { exitCode, timedOut } = result;
  const notes = timedOut ? [`[ended after ${timeoutSeconds} s]`] : [];
  const text = textOf(result);
  const held = run.environment.sandbox.unconfined || exitCode === 0 ? undefined : heldBack(text, network);
  return {
    outcome: exitCode === 0 ? 'done' : 'failed',
    text: [text, ...notes].filter((part) => part !== '').join('\n'),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(held === undefined ? {} : { heldBack: held }),
  };
}

type Asked = Parameters<AgentRun['environment']['sandbox']['run']>[0];

/** Runs words in the sandbox of the run, with what every command of a worker has. */
async function runSandboxed(
  run: AgentRun,
  place: ToolPlace,
  asked: Pick<Asked, 'argv' | 'network' | 'timeoutMs' | 'maxOutputBytes' | 'stdin'>,
): Promise<SandboxResult> {
  const { sandbox, config } = run.environment;
  const result = await sandbox.run({
    ...asked,
    workspace: place.workspace,
    reports: place.reports,
    binds: [],
    withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
    env: toolEnvironment(run, place),
    maxMemoryBytes: maxMemoryBytes(config),
    signal: run.services.signal,
  });
  run.services.signal.throwIfAborted();
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
