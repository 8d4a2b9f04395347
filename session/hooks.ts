/* Runs hooks: programs of a user, or of the policy commit, that see what a session is about to do and may refuse it. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { messageOf, WritError } from '../core/base/errors.ts';
import { unseen } from '../core/base/printable.ts';
import type { ToolRequest } from '../core/interfaces/hook-payload.ts';
import type { SandboxResult } from '../core/interfaces/sandbox.ts';
import type { HookEvent, SessionHook } from '../engine/config/read-session-policy.ts';
import type { WritEngine } from '../spec/contract-rows.ts';
import { hideRepository } from '../workspace/git/hide-repository.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { removeTree } from '../workspace/git/torn-paths.ts';
import { exportTree } from '../workspace/git/workspace.ts';
import { spawnProcess } from '../workspace/process/spawn.ts';
import { pickSandbox } from '../workspace/process/version-control.ts';
import type { Want } from './state/command.ts';
import type { TurnEnd } from './state/fact.ts';
import { questionsOf } from './state/question.ts';
import type { SessionState } from './state/state.ts';

/** The hooks of a session, and the tree at the policy commit, which the hooks of the repository see. */
export interface HookSetting {
  readonly hooks: readonly SessionHook[];
  readonly tree: string;
}

/** What hooks are run with. */
interface HookPlace {
  readonly engine: Pick<WritEngine, 'slots'>;
  readonly repositoryPath: string;
  readonly sandbox: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mask: (text: string) => string;
}

/** The hooks of one thread. Each returns the fault of the first hook that refuses or fails. */
export interface SessionHooks extends AsyncDisposable {
  message(text: string): Promise<WritError | undefined>;
  tool(request: ToolRequest): Promise<WritError | undefined>;
  end(end: TurnEnd): Promise<WritError | undefined>;
}

const limits = { ms: 10_000, outputBytes: 4096, textChars: 64 * 1024, memoryBytes: 1 << 30 } as const;
/** Variables that a user's hook gets; none may hold a key. */
const variables = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR'];
/** Where a hook of the policy commit sees the files of that commit. */
const inside = '/policy';

/** Opens the hooks of a thread. A user's are called first, then those of the policy commit. */
export function openHooks({ hooks, tree }: HookSetting, threadId: string, place: HookPlace): SessionHooks {
  let policy: Promise<string> | undefined;
  const call = async (event: HookEvent, facts: Readonly<Record<string, unknown>>) => {
    for (const hook of hooks.filter((one) => one.event === event)) {
      const stdin = Buffer.from(`${JSON.stringify({ event, thread: threadId, ...facts })}\n`);
      const fault = await ended(hook, place.mask, async () => {
        if (hook.from === 'user') return runAsUser(hook, place, stdin);
        policy ??= exportPolicy(place, tree);
        return runInSandbox(hook, place, await policy, stdin);
      });
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const shown = (text: string): string => place.mask(text).slice(0, limits.textChars).toWellFormed();
  return {
    message: (text) => call('message', { text: shown(text) }),
    tool({ tool, action, command, paths, query, task }) {
      return call('tool', {
        tool,
        action,
        ...(command === undefined ? {} : { command: shown(command) }),
        ...(paths === undefined ? {} : { paths }),
        ...(query === undefined ? {} : { query: shown(query) }),
        ...(task === undefined ? {} : { task }),
      });
    },
    end: (end) => call('end', { end }),
    async [Symbol.asyncDispose]() {
      const root = await policy?.catch(() => undefined);
      if (root !== undefined) await removeTree(root);
    },
  };
}

/** A program of the user, on this machine, in the repository's root. */
function runAsUser(
  { argv }: SessionHook,
  { repositoryPath, env }: HookPlace,
  stdin: Uint8Array,
): Promise<SandboxResult> {
  const kept = variables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return spawnProcess({
    argv,
    cwd: repositoryPath,
    env: Object.fromEntries(kept),
    stdin,
    timeoutMs: limits.ms,
    maxOutputBytes: limits.outputBytes,
    processGroup: true,
  });
}

/** A repository runs no program on the machine itself: no network, no working tree, an empty directory to work in. */
async function runInSandbox(
  { argv }: SessionHook,
  { engine, sandbox, repositoryPath }: HookPlace,
  root: string,
  stdin: Uint8Array,
): Promise<SandboxResult> {
  const picked = await pickSandbox(sandbox, engine.slots.sandbox);
  if (picked.unconfined) throw new WritError('SANDBOX_NONE_REFUSED');
  const backend = hideRepository(picked, await openRepository(repositoryPath, { onlyReads: true }));
  const place = await mkdtemp(join(root, 'call-'));
  const [workspace, reports] = [join(place, 'workspace'), join(place, 'reports')];
  for (const directory of [workspace, reports]) await mkdir(directory, { mode: 0o700 });
  try {
    return await backend.run({
      argv,
      workspace,
      reports,
      binds: [{ source: join(root, 'tree'), target: inside, writable: false }],
      env: {},
      network: 'none',
      stdin,
      timeoutMs: limits.ms,
      maxOutputBytes: limits.outputBytes,
      maxMemoryBytes: limits.memoryBytes,
    });
  } finally {
    await removeTree(place);
  }
}

/** The files of the policy commit, without its history. */
async function exportPolicy({ repositoryPath }: HookPlace, tree: string): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'writ-hooks-'));
  const directory = join(root, 'tree');
  await exportTree(await openRepository(repositoryPath, { onlyReads: true }), tree, directory);
  await removeTree(join(directory, '.git'));
  return root;
}

/** How a hook ended: `undefined` for exit code 0. What it prints is untrusted. */
async function ended(
  hook: SessionHook,
  mask: HookPlace['mask'],
  run: () => Promise<SandboxResult>,
): Promise<WritError | undefined> {
  const failed = (found: string, cause?: unknown): WritError =>
    new WritError('HOOK_FAILED', {
      message: `${hookName(hook)} ${found}, expected exit code 0 to allow or 2 to refuse`,
      detail: { event: hook.event, from: hook.from },
      hints: [`correct the hook, or remove \`${hook.event}\` from ${hookFile(hook)} and start again`],
      cause,
    });
  let result: SandboxResult;
  try {
    result = await run();
  } catch (fault) {
    return failed(`could not start (${messageOf(fault)})`, fault);
  }
  const { exitCode, signal, timedOut, stdout } = result;
  if (timedOut) return failed(`took longer than ${limits.ms / 1000} s`);
  if (exitCode === 0) return undefined;
  if (exitCode !== 2)
    return failed(exitCode === undefined ? `was ended by ${signal}` : `ended with exit code ${exitCode}`);
  const said = mask(stdout.bytes.toString('utf8')).replaceAll(unseen, ' ').trim();
  return new WritError('HOOK_REFUSED', {
    message: `${hookName(hook)} refused it${said === '' ? ' without a reason' : `: “${said}”`}`,
    detail: { event: hook.event, from: hook.from },
  });
}

/** A hook for people: its event, its program and whose it is. */
export function hookName({ event, argv: [program = ''], from }: SessionHook): string {
  return `hook \`${event}\` of ${from === 'user' ? 'the user' : 'the policy commit'} (\`${basename(program)}\`)`;
}

function hookFile({ from }: SessionHook): string {
  return from === 'user' ? "the user's `config.toml`" : '`.writ/config.toml` at the policy commit';
}

/** The person's words that these effects give to a model. Answers to secret questions are not among them. */
export function wordsToModel(
  wants: readonly Want[],
  { interactions }: Pick<SessionState, 'interactions'>,
): string {
  const words = wants.flatMap((want): readonly string[] => {
    if (want.type === 'turn')
      return 'text' in want.spoken && want.spoken.kind !== 'undo' ? [want.spoken.text] : [];
    if (want.type === 'note') return [want.note];
    if (want.type !== 'answer') return [];
    const { note, answers = {} } = want.given;
    const asked = interactions.findLast(({ subject }) => subject === want.subject);
    const isSecret = asked !== undefined && questionsOf(asked).some(({ secret }) => secret === true);
    return [...(note === undefined ? [] : [note]), ...(isSecret ? [] : Object.values(answers).flat())];
  });
  return words.filter((one) => one.trim() !== '').join('\n');
}
