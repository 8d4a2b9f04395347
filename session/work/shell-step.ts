/** Runs a command of the user in the sandbox. */
import { lstat, mkdir, readdir, realpath, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { untrustedText } from '../../agent/model-loop/model-turns.ts';
import { openToolEntry } from '../../agent/tool-calls/tool-entry.ts';
import { heldBack } from '../../agent/workspace-tools/authorize-use.ts';
import { textOf, writeStubs } from '../../agent/workspace-tools/workspace-tools.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';
import type { SandboxBackend, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { HandAnswer } from '../../core/interfaces/worker.ts';
import type { WritConfig } from '../../engine/config/config.ts';
import { readDraftEnvironment } from '../../engine/draft/draft-request.ts';
import { maxLockfileBytes } from '../../engine/evaluate/workspace-dependencies/shared-directory.ts';
import {
  findWorkspaceDependencies,
  placeWorkspaceDependencies,
} from '../../engine/evaluate/workspace-dependencies.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { guardingProfile, privacyPolicyOf } from '../../spec/facts.ts';
import { processWitness } from '../../store/journal-witness.ts';
import { requireOwnPlace } from '../../store/run-directory.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import { openEgress } from '../../workspace/egress/open-egress.ts';
import { type CopiedTree, type CopyChange, copyWorkTree } from '../../workspace/git/copy-work-tree.ts';
import { isIgnoredPath } from '../../workspace/git/dirty-paths.ts';
import { hideRepository } from '../../workspace/git/hide-repository.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { type Repository, stateDirectory } from '../../workspace/git/repository.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { BoundedCapture } from '../../workspace/process/capture.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import { isVersionControl, pickSandbox } from '../../workspace/process/version-control.ts';
import { commandsOf } from '../../workspace/shell/shell.ts';
import { requireApart } from '../self-test.ts';
import type { Speaker } from '../state/fact.ts';
import { listThreadIds, threadDirectory } from '../thread/open-thread.ts';
import { consentGround, personOf } from './consent.ts';
import type { StepEnd, TurnScope, WorkSetting } from './turn-scope.ts';
import type { RunWatcher } from './watch-runs.ts';

/** What a person's command is run with, beside its turn. */
interface ShellParts extends Pick<RunWatcher, 'printed' | 'idOf' | 'exempt'> {
  readonly copy: KeptCopy;
}

/** Characters of output that a model gets. */
const maxTold = 16_384;

/**
 * Runs a command of the controller with the guards, approvals, sandbox and network of a model's command. It runs on a
 * copy of the working tree, which is never merged back (docs/reference/code-turns.md, Your own commands).
 */
export async function shellStep(
  scope: TurnScope,
  command: string,
  by: Speaker,
  { copy, printed, idOf, exempt }: ShellParts,
): Promise<StepEnd> {
  const { setting, signal, emit, newId, state } = scope;
  const { engine, repositoryPath, clock, networkAccess } = setting;
  if (networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());
  const picked = await pickSandbox(setting.sandbox, engine.slots.sandbox);
  requireConfined(picked, networkAccess);
  const runId = newId();
  const { repository, config, base } = await readDraftEnvironment(engine, {
    repositoryPath,
    runId,
    target: await setting.target(),
  });
  const backend = hideRepository(picked, repository);
  const effective = guardingProfile(clock.now());
  const policy = privacyPolicyOf(effective, config.redaction);
  const mask = (text: string): string => redactTexts(text, policy);
  // In the user's own files only secrets are masked.
  const shown = (text: string): string =>
    setting.approval.mask(redactTexts(text, { ...policy, remove: ['secrets'] }));
  const network = { networkAccess, hosts: [] };
  const ground = await consentGround(setting, network, scope.heldBack);
  const isPerson = by.kind !== 'automation';
  const person = personOf(scope, { ...ground, isOwnWord: isPerson && ground.backend !== undefined });
  const door = openToolEntry(
    { engine, nowMs: () => clock.now(), mask, signal, consent: (request) => person.consent(request, signal) },
    { most: 1, told: 'one command at a time' },
  );
  const request: ToolRequest = { runId, tool: 'workspace.command', action: 'execute', command };
  exempt(request);
  const live = openLiveText({ clock, signal, mask: shown, emit: (text) => printed(request, text) });
  const answer = await door.use(
    () => ({ request, given: { command }, ...withheld(command) }),
    async () => {
      const ran = await runInCopy(
        {
          setting,
          repository,
          config,
          backend,
          base: base.tree,
          copy,
          cwd: state().ground.workingDir,
          mayOpen: state().settings.context === 'dev',
          signal,
        },
        { command, heard: live.heard },
      );
      live.end(ran.text);
      return ran;
    },
  );
  const told = mask(answer.text);
  const cut =
    told.length > maxTold
      ? `${told.slice(0, maxTold)}\n[left out: the rest of ${told.length} characters]`
      : told;
  const whose = isPerson
    ? 'The person ran this command himself'
    : 'A program that steers the session ran this command';
  const code = answer.exitCode === undefined ? answer.outcome : `exit code ${answer.exitCode}`;
  await emit({
    type: 'ran',
    id: idOf(request),
    text: `${whose}, on a copy of the work tree (${code}):\n${mask(command)}\n${untrustedText(effective.security.promptInjection, cut)}`,
  });
  return { end: 'done' };
}

/**
 * Refuses version control programs before any copy is made. The sandbox blocks them even if the text cannot be
 * parsed.
 */
function withheld(command: string) {
  const reading = commandsOf(command);
  if (!reading.ok) return {};
  const program = reading.commands.map(({ argv }) => argv[0]?.literal ?? '').find(isVersionControl);
  if (program === undefined) return {};
  const message = `\`${program}\` is not to be had as a command here: \`/diff\` shows what was changed, a terminal of your own does the rest`;
  return { refusal: refusal(message, { reason: 'withheld', program }) };
}

/** SANDBOX_NONE_REFUSED if the back end confines nothing and the network is to be closed. */
function requireConfined({ unconfined, name }: SandboxBackend, networkAccess: 'allow' | 'deny'): void {
  if (!unconfined || networkAccess === 'allow') return;
  throw new WritError('SANDBOX_NONE_REFUSED', {
    message: `\`--sandbox ${name}\` cannot block the network for a command`,
    hints: [
      'allow the network first: `/network allow`',
      `or start the session without \`--sandbox ${name}\``,
    ],
  });
}

/** Where a person's command runs, and with what. */
interface CopyGround {
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

/** Timeout of a command. */
const maxSeconds = 3600;

/** Runs shell text on the copy and reports the files that it changed there. */
async function runInCopy(
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
      // An unconfined command may have left a process that still writes.
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

/** Runs in the session's directory. A directory that the copy lacks (it is empty or ignored) is created empty. */
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

/** Shares the directories of `[workspace] share`, read-only. No `prepare` step runs for a command. */
async function sharedIn(
  { repository, config, backend, base, signal, setting }: CopyGround,
  workspace: string,
): ReturnType<typeof placeWorkspaceDependencies> {
  if (config.workspace.share.length === 0) return [];
  const { provided } = await findWorkspaceDependencies({
    config: { ...config.workspace, prepare: [] },
    worktree: repository.root,
    workspace,
    cacheDir: join(stateDirectory(repository, 'cache'), 'workspace'),
    sandbox: backend,
    voucher: await (setting.run.witness ?? processWitness).voucher('workspace-prepare'),
    readBase: (path) => readBlob(repository, base, path),
    readCandidate: async (path) => readPlain(join(workspace, path), maxLockfileBytes).bytes,
    isIgnored: (path) => isIgnoredPath(repository, path),
    signal,
  });
  return placeWorkspaceDependencies({ sandbox: backend, workspace }, provided);
}

const mostNamed = 5;

/** Programs report a missing network in their own words, but cannot report how to open it. */
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

/** Bytes of what a command prints that are kept, half of them the first and half the last. */
const maxPrintedBytes = 32 * 1024;
/** Characters from its end that are shown while it runs. */
const maxLive = 4096;
const everyMs = 150;

interface LiveParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mask: (text: string) => string;
  readonly emit: (text: string) => void;
}

/** The last whole lines of a running command's output, reported a few times a second. */
interface LiveText {
  readonly heard: (chunk: Uint8Array) => void;
  /** It is over, and printed this. */
  end(text: string): void;
}

function openLiveText({ clock, signal, mask, emit }: LiveParts): LiveText {
  const capture = new BoundedCapture(maxPrintedBytes);
  let isWaiting = false;
  let isOver = false;
  const show = (): void => {
    isWaiting = false;
    if (isOver) return;
    const text = capture.finish().bytes.toString('utf8');
    // Incomplete lines are not shown, because a secret in them could not be recognised.
    const whole = mask(text.slice(0, text.lastIndexOf('\n') + 1));
    const end = whole.slice(-maxLive);
    if (end !== '') emit(end.length < whole.length ? end.slice(end.indexOf('\n') + 1) : end);
  };
  return {
    heard(chunk) {
      capture.push(chunk);
      if (isWaiting || isOver) return;
      isWaiting = true;
      clock.sleep(everyMs, signal).then(show, () => undefined);
    },
    end(text) {
      isOver = true;
      emit(mask(text));
    },
  };
}

/** The copy of the working tree for the user's commands. */

/**
 * The copy of the working tree for commands of one session, which run one at a time. Files that the next command can
 * reuse are not copied again. A copy that was not passed to `keep` is deleted, and the last one is deleted with the
 * session.
 */
interface KeptCopy extends AsyncDisposable {
  /** A directory of this session alone. */
  readonly place: string;
  /** Provides the current working tree without leftovers of earlier commands, and an empty directory for reports. */
  renew(
    repository: Repository,
    signal: AbortSignal,
  ): Promise<{ readonly workspace: string; readonly reports: string; readonly copied: CopiedTree }>;
  /** The command has ended and cannot write any more. */
  keep(copied: CopiedTree): void;
  /** Removes everything but the kept copy. */
  tidy(): Promise<void>;
}

const copyName = 'workspace';

export function keepCopy(place: string): KeptCopy {
  let last: CopiedTree | undefined;
  return {
    place,
    async renew(repository, signal) {
      const known = last;
      last = undefined;
      if (known === undefined) await removeTree(place);
      await mkdir(place, { recursive: true, mode: 0o700 });
      const [workspace, reports] = [join(place, copyName), join(place, 'reports')];
      for (const directory of [workspace, reports]) await mkdir(directory, { recursive: true });
      const how = known === undefined ? {} : { last: known };
      return { workspace, reports, copied: await copyWorkTree(repository, workspace, signal, how) };
    },
    keep(copied) {
      last = copied;
    },
    async tidy() {
      if (last === undefined) return removeTree(place);
      for (const name of await readdir(place)) if (name !== copyName) await removeTree(join(place, name));
    },
    [Symbol.asyncDispose]: () => removeTree(place),
  };
}

/** In the directory of a thread: the copy of the work tree that a command of the person runs on. */
export const shellPlace = 'shell';
/** What of one is being removed. */
const removed = 'shell-removed';

/**
 * Removes copies that killed sessions left in threads without a writer. A thread is locked only for a rename. What
 * cannot be removed stays for the next session.
 */
export async function sweepCopies(repository: Pick<Repository, 'commonDir'>, own: string): Promise<void> {
  const { ids } = await listThreadIds(repository).catch(() => ({ ids: [] }));
  for (const id of ids)
    if (id !== own) await sweepThread(threadDirectory(repository, id)).catch(() => undefined);
}

async function sweepThread(directory: string): Promise<void> {
  const [copy, aside] = [join(directory, shellPlace), join(directory, removed)];
  if (await stands(aside)) await removeTree(aside);
  if (!(await stands(copy))) return;
  await requireOwnPlace(directory, ['lock']);
  const lock = await acquireProcessLock(join(directory, 'lock'), {
    busy: () => new WritError('THREAD_BUSY'),
  });
  try {
    await rename(copy, aside);
  } finally {
    await lock.release();
  }
  await removeTree(aside);
}

function stands(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
