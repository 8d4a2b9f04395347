/* What a person types outside the composer: in an editor, and kept with its thread. Checks the session's model. */
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { isBuiltIn, pickProvider } from '../../engine/state/open-model.ts';
import {
  openPrivateDirectory,
  readPrivateFile,
  removeDrafts,
  writePrivateFile,
} from '../../http/private-files.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { findBase, findKey, findSecret, keyPlaceNames } from '../../providers/keys.ts';
import { threadDirectory } from '../../session/thread/open-thread.ts';
import type { Draft } from '../../session/tui/composer/composer.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { findAgent } from '../../workspace/process/find-program.ts';
import { runInTerminal } from '../../workspace/process/spawn.ts';
import type { Reaching } from '../command-parts/reach-provider.ts';

const maxEdited = 4 * 1024 * 1024;

/**
 * Opens a text in the user's editor (`VISUAL`, else `EDITOR`, else `vi`) and returns the edited text. The text is in
 * a file of a private directory for that time. If the editor fails, the text is unchanged.
 */
export async function editOutside(
  text: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'writ-edit-'));
  try {
    const path = join(directory, 'message.md');
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const editor =
      [env.VISUAL, env.EDITOR, 'vi'].find((one) => one !== undefined && one.trim() !== '') ?? 'vi';
    // Split on whitespace; no shell interprets the variable.
    const argv = [...editor.trim().split(/\s+/), path];
    const own = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const code = await runInTerminal(argv, { cwd, env: Object.fromEntries(own) }).catch((cause: unknown) => {
      throw notStarted(editor, cause);
    });
    if (code !== 0)
      throw new WritError('SPAWN_FAILED', {
        message: `the editor \`${argv[0]}\` ended with ${code}; the text is as it was`,
        detail: { program: argv[0], exit_code: code },
      });
    return await readText(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function notStarted(editor: string, cause: unknown): unknown {
  if (!isWritError(cause, 'SPAWN_FAILED')) return cause;
  return new WritError('SPAWN_FAILED', {
    message: `the editor \`${editor}\` could not be started; the text is as it was`,
    detail: cause.detail,
    hints: ['`VISUAL` or `EDITOR` names another one'],
    cause,
  });
}

async function readText(path: string): Promise<string> {
  await using file = await open(path, 'r').catch((cause: unknown) => {
    throw new WritError('SPAWN_FAILED', {
      message: 'the editor left no file that can be read; the text is as it was',
      cause,
    });
  });
  const { size } = await file.stat();
  if (size > maxEdited) throw new WritError('INPUT_TOO_LARGE', { detail: { limit: maxEdited, found: size } });
  return file.readFile('utf8');
}

/** What is known of a session's model before the first request. */
export interface FoundModel {
  /** Absent for a plugin's that names none. */
  readonly model: string | undefined;
  /** Where its key was found; each turn looks it up again. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  /** Values to mask in all output: the key itself. */
  readonly secrets: readonly string[];
  /** Whether the provider knows the model's price. If absent, the first request shows it. */
  readonly isPriced?: boolean;
}

/**
 * Checks that the session's model can be used, before a user waits for it. PROVIDER_KEY_MISSING,
 * PROVIDER_KEY_UNUSABLE, PROVIDER_OPTION, SLOT_UNKNOWN. A plugin's provider is checked by its first turn.
 */
export async function findModel(
  engine: WritEngine,
  choice: ModelChoice,
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
  isBrought: () => Promise<boolean>,
  plainHttp: readonly string[],
): Promise<FoundModel> {
  const { provider, apiBase, flags } = choice;
  if (!isBuiltIn(engine, provider) && (await isBrought()))
    return { model: choice.model, key: undefined, secrets: [] };
  const source = await pickProvider(engine, provider);
  if (source.agent !== undefined) requireProgram(source.agent, flags);
  const { base, isOtherBase } = findBase(source, apiBase, variable, plainHttp);
  const found = await findKey(provider, source, base, keys).catch(async (fault: unknown) => {
    throw isWritError(fault, 'PROVIDER_KEY_MISSING')
      ? await withUsable(fault, engine, { keys, variable })
      : fault;
  });
  const model = choice.model ?? source.defaultModel;
  const { stream, clock } = engine;
  const opened = await source.open({
    base,
    isOtherBase,
    model,
    flags,
    stream,
    clock,
    ...(found === undefined ? {} : { key: found.value }),
  });
  const key = found === undefined ? undefined : { name: found.name, source: keyPlaceNames[found.source] };
  const isPriced = opened.costUnits?.(model, { input: 1000, output: 1000 }) !== undefined;
  return { model, key, secrets: found === undefined ? [] : [found.value], isPriced };
}

/** The error of a missing key, with what works here without it: local models first, then other keys, then a demo. */
async function withUsable(
  fault: WritError,
  engine: WritEngine,
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
): Promise<WritError> {
  const usable: string[] = [];
  for (const name of ['ollama', ...Object.keys(builtInProviders).filter((one) => one !== 'ollama')]) {
    const source = await builtInProviders[name]?.();
    if (source === undefined || name === fault.detail.provider) continue;
    if (name === 'ollama') {
      const { base } = findBase(source, undefined, variable, []);
      const models = await localModels(engine, base);
      if (models !== undefined)
        usable.push(
          models.length === 0
            ? `Ollama runs at ${base} and has no model yet: \`ollama pull ${source.defaultModel}\``
            : `Ollama runs here: \`writ code --provider ollama --model ${models[0]}\` (${models.slice(0, 5).join(', ')})`,
        );
    } else if (source.agent === undefined) {
      const found = await findSecret(source.keys, keys);
      if (found !== undefined) usable.push(`${found.name} is set: \`writ code --provider ${name}\``);
    } else if (await hasProgram(source.agent))
      usable.push(`${name} is installed: \`writ code --provider ${name}\``);
  }
  const none =
    'no other provider has a key or runs here; Ollama needs no key: start it, then `writ code --provider ollama`';
  return new WritError('PROVIDER_KEY_MISSING', {
    message: fault.message,
    detail: { ...fault.detail, usable },
    hints: [
      ...(usable.length === 0 ? [none] : usable),
      ...fault.hints.toReversed(),
      'see a whole session first, without a key: `writ demo --session`',
    ],
    cause: fault,
  });
}

async function hasProgram(agent: Parameters<typeof findAgent>[0]): Promise<boolean> {
  try {
    findAgent(agent, {});
    return true;
  } catch {
    return false;
  }
}

/** Longest wait for a local server, which answers at once or is not there. */
const localWaitMs = 1500;

/** Names of the models of an Ollama server; `undefined` if none answers. */
async function localModels(
  { stream }: Pick<WritEngine, 'stream'>,
  base: string,
): Promise<readonly string[] | undefined> {
  try {
    const wait = { withinMs: localWaitMs, idleMs: localWaitMs, maxBytes: 1024 * 1024 };
    await using answer = await stream({ url: `${base}/api/tags`, method: 'GET', ...wait });
    if (answer.status !== 200) return undefined;
    const parts: Uint8Array[] = [];
    for await (const part of answer.body) parts.push(part);
    const { models = [] } = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
      readonly models?: unknown;
    };
    const names = Array.isArray(models) ? models.map((one) => Object(one).name) : [];
    return names.filter((name) => typeof name === 'string' && /^[\w.:@/+-]{1,100}$/.test(name));
  } catch {
    return undefined;
  }
}

/** PROVIDER_OPTION for a program that the line names and that is not there: no turn of the session could start it. */
function requireProgram(agent: Parameters<typeof findAgent>[0], flags: ModelChoice['flags']): void {
  const { flag } = agent.program;
  if (flags[flag] === undefined) return;
  try {
    findAgent(agent, flags);
  } catch (fault) {
    if (!isWritError(fault, 'AGENT_UNAVAILABLE')) throw fault;
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--${flag}\`: ${fault.message}`,
      detail: { flag, ...fault.detail },
      hints: fault.hints,
    });
  }
}

/** Keeps what somebody types and does not send beside its thread, for as long as this process has the thread. */
export interface DraftKeeper {
  /** The draft kept before, if any. */
  readonly draft: Draft | undefined;
  /** Schedules saving the draft that `of` returns. Callers do not wait for it. */
  keep(of: () => Draft): void;
  /** Resolves once the last of it is kept. */
  close(): Promise<void>;
}

interface KeeperParts {
  readonly clock: Clock;
  /** Masks secrets, as in sent messages. */
  readonly mask: (text: string) => string;
  /** Called once, on the first fault; from then on no draft is saved. */
  readonly report: (fault: unknown) => void;
}

/** So much is lost by a kill at most. */
const afterMs = 500;
/** Octets of the file: sixteen messages of the longest kind, and some. */
const maxBytes = 4 * 1024 * 1024 + 64 * 1024;

/**
 * Opens the draft file in a thread's directory. Only this user can read it, and it is replaced as a whole, never
 * through a link. An untrusted file (a link, another owner, a loose mode) is reported and left unchanged.
 */
export async function openDraftKeeper(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
  { clock, mask, report }: KeeperParts,
): Promise<DraftKeeper> {
  const over = new AbortController();
  let wanted: (() => Draft) | undefined;
  let written: string | undefined;
  let path: string | undefined;
  let writing = Promise.resolve();
  const failed = (fault: unknown): void => {
    path = undefined;
    report(fault);
  };
  const write = async (): Promise<void> => {
    if (path === undefined || wanted === undefined) return;
    const text = toText(masked(wanted(), mask));
    wanted = undefined;
    if (text === written) return;
    if (text === '') await rm(path, { force: true });
    else await writePrivateFile(path, text);
    written = text;
  };
  const writeSoon = (): void => {
    writing = writing
      .then(() => clock.sleep(afterMs, over.signal))
      .catch(() => {})
      .then(write)
      .catch(failed);
  };
  let draft: Draft | undefined;
  try {
    const directory = await openPrivateDirectory(threadDirectory(repository, threadId), ['typed']);
    await removeDrafts(directory);
    path = join(directory, 'draft.json');
    written = (await readPrivateFile(path, maxBytes)) ?? '';
    draft = written === '' ? undefined : readDraft(path, written);
  } catch (fault) {
    failed(fault);
  }
  return {
    draft,
    keep(of) {
      const isWaiting = wanted !== undefined;
      wanted = of;
      if (!isWaiting) writeSoon();
    },
    async close() {
      over.abort();
      await writing;
    },
  };
}

function masked({ unsent, typed }: Draft, mask: KeeperParts['mask']): Draft {
  return { unsent: unsent.map(mask), typed: typed.map(mask) };
}

/** Returns an empty string if there is nothing to keep. At the size limit, the oldest typed texts are dropped first. */
function toText({ unsent, typed }: Draft): string {
  let left = maxBytes - 1024;
  const fits = (text: string): boolean => {
    left -= Buffer.byteLength(JSON.stringify(text)) + 1;
    return left >= 0;
  };
  const kept = { unsent: unsent.filter(fits), typed: typed.toReversed().filter(fits).reverse() };
  return kept.unsent.length + kept.typed.length === 0 ? '' : JSON.stringify(kept);
}

/** PRIVATE_FILE_UNSAFE if the file is not a draft: another program wrote it. */
function readDraft(path: string, text: string): Draft {
  const value = parsed(text);
  const [unsent, typed] = [textsOf(value?.unsent), textsOf(value?.typed)];
  if (unsent !== undefined && typed !== undefined) return { unsent, typed };
  const reason = 'it does not hold what was typed';
  throw new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: ['look at what it is, then remove it'],
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}
