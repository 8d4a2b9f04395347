import { constants } from 'node:fs';
import { mkdir, open, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { HandAnswer } from '../../../core/contract/hands.ts';
import type { SandboxBackend, SandboxResult } from '../../../core/contract/sandbox.ts';
import type { WritConfig } from '../../../engine/config/config.ts';
import {
  findWorkspaceDependencies,
  placeWorkspaceDependencies,
} from '../../../engine/run/judge/workspace-dependencies.ts';
import { maxMemoryBytes } from '../../../engine/run/state/max-memory-bytes.ts';
import { textOf } from '../../../engine/run/work/hands/execute-in-workspace.ts';
import { heldBack } from '../../../engine/run/work/hands/held-back.ts';
import { writeStubs } from '../../../engine/run/work/hands/write-stubs.ts';
import { processWitness } from '../../../engine/store/process-witness.ts';
import { openEgress } from '../../../engine/tool/egress/open-egress.ts';
import { isVersionControl } from '../../../engine/tool/version-control.ts';
import { readBlob } from '../../../engine/vcs/blobs.ts';
import type { CopyChange } from '../../../engine/vcs/copied-states.ts';
import type { CopiedTree } from '../../../engine/vcs/copy-work-tree.ts';
import { isIgnoredPath } from '../../../engine/vcs/ignored.ts';
import type { Repository } from '../../../engine/vcs/repository.ts';
import type { WorkSetting } from '../work-setting.ts';
import type { KeptCopy } from './keep-copy.ts';
import { maxPrintedBytes } from './live-text.ts';

/** Where a person's command runs, and with what. */
export interface CopyGround {
  readonly setting: Pick<WorkSetting, 'networkAccess' | 'run'>;
  readonly repository: Repository;
  /** At the policy commit. */
  readonly config: WritConfig;
  readonly backend: SandboxBackend;
  /** Tree of the base. */
  readonly base: string;
  readonly copy: KeptCopy;
  /** Where the session works: a directory of the work tree. */
  readonly cwd: string;
  /** A person may open the network in this context. */
  readonly mayOpen: boolean;
  readonly signal: AbortSignal;
}

/** Longest time of a command; whoever waits for it ends it before. */
const maxSeconds = 3600;

/** Runs shell text on the copy of the work tree; what it leaves there is told, and is nowhere else. */
export async function runInCopy(
  ground: CopyGround,
  { command, heard }: { readonly command: string; readonly heard: (chunk: Uint8Array) => void },
): Promise<HandAnswer> {
  const { repository, config, backend, copy, signal, setting } = ground;
  const { place } = copy;
  try {
    const { workspace, reports, copied } = await copy.renew(repository, signal);
    const binds = await sharedIn(ground, workspace);
    const egress = await openWay(ground);
    try {
      const result = await backend.run({
        argv: await wordsOf(ground, workspace, command),
        workspace,
        reports,
        binds,
        withheld: { isWithheld: isVersionControl, stubs: await writeStubs(place)(), stub: 'git' },
        env: { LANG: 'C.UTF-8', CI: 'true' },
        network: backend.unconfined ? 'host' : (egress?.network ?? 'none'),
        timeoutMs: maxSeconds * 1000,
        maxOutputBytes: maxPrintedBytes,
        maxMemoryBytes: maxMemoryBytes(config),
        heard,
        signal,
      });
      // What nothing confines may have left somebody there who writes on.
      if (!backend.unconfined) copy.keep(copied);
      signal.throwIfAborted();
      return answerOf(result, copied, await copied.changed(), closedNote(ground, result));
    } finally {
      await egress?.close();
    }
  } finally {
    await copy.tidy();
  }
  function openWay({ backend: { unconfined } }: CopyGround) {
    if (unconfined || setting.networkAccess === 'deny') return undefined;
    const { outside } = setting.run;
    return openEgress(place, {
      policy: { all: true, openings: [] },
      ...(outside === undefined ? {} : { outside }),
    });
  }
}

/** In the directory of the session; one of which the copy has nothing (it is empty, or ignored) is empty there. */
async function wordsOf(
  { repository, cwd }: CopyGround,
  workspace: string,
  command: string,
): Promise<readonly string[]> {
  const below = relative(await realpath(repository.root), await realpath(cwd).catch(() => repository.root));
  if (below === '' || below === '..' || below.startsWith('../')) return ['sh', '-c', command];
  await mkdir(join(workspace, below), { recursive: true });
  return ['sh', '-c', 'cd -- "$1" && exec sh -c "$2"', 'sh', `./${below}`, command];
}

/** What `[workspace] share` names, read-only; nothing is prepared for a command. */
async function sharedIn(
  { repository, config, backend, base, signal, setting }: CopyGround,
  workspace: string,
): ReturnType<typeof placeWorkspaceDependencies> {
  if (config.workspace.share.length === 0) return [];
  const { provided } = await findWorkspaceDependencies({
    config: { ...config.workspace, prepare: [] },
    worktree: repository.root,
    workspace,
    cacheDir: join(repository.commonDir, 'writ', 'cache', 'workspace'),
    sandbox: backend,
    voucher: await (setting.run.witness ?? processWitness).voucher('workspace-prepare'),
    readBase: (path) => readBlob(repository, base, path),
    readCandidate: (path) => readCopied(workspace, path),
    isIgnored: (path) => isIgnoredPath(repository, path),
    signal,
  });
  return placeWorkspaceDependencies({ sandbox: backend, workspace }, provided);
}

const mostNamed = 5;

/** Programs say in words of their own that there is no network; how it is opened none of them knows. */
function closedNote({ backend, setting, mayOpen }: CopyGround, result: SandboxResult): readonly string[] {
  if (backend.unconfined || setting.networkAccess === 'allow' || result.exitCode === 0) return [];
  if (heldBack(textOf(result), undefined) !== 'to reach the network') return [];
  return [`[commands here have no network${mayOpen ? ': `/network allow` opens it' : ''}]`];
}

function answerOf(
  result: SandboxResult,
  { leftOut }: Pick<CopiedTree, 'leftOut'>,
  changed: readonly CopyChange[],
  closed: readonly string[],
): HandAnswer {
  const { exitCode, timedOut, signal } = result;
  const printed = textOf(result);
  const notes = [
    ...(timedOut ? [`[ended after ${maxSeconds} s]`] : []),
    ...(signal !== undefined && !timedOut && !result.exceeded ? [`[ended by ${signal}]`] : []),
    ...closed,
    ...(leftOut.length === 0
      ? []
      : [`[not in the copy that it ran on, as it could not be copied: ${named(leftOut.map(quoted))}]`]),
    ...(changed.length === 0 ? [] : [changeNote(changed)]),
  ];
  return {
    outcome: exitCode === 0 ? 'done' : 'failed',
    text: [notes.length === 0 ? printed : printed.replace(/\n$/, ''), ...notes]
      .filter((part) => part !== '')
      .join('\n'),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function changeNote(changed: readonly CopyChange[]): string {
  const told = named(changed.map(({ path, was }) => `${quoted(path)} ${was}`));
  return `[in the copy that it ran on: ${told}; your files are as they were]`;
}

function quoted(path: string): string {
  return JSON.stringify(path);
}

function named(all: readonly string[]): string {
  const first = all.slice(0, mostNamed).join(', ');
  return all.length > mostNamed ? `${first} and ${all.length - mostNamed} more` : first;
}

/** A file of a copy that nothing has run in yet; `undefined` where none stands there. */
async function readCopied(directory: string, path: string): Promise<Uint8Array | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(directory, path), flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).isFile() ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
