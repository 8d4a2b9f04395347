/* Runs `writ code` with its terminal screen. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type { TableReader } from '../../engine/config/table-reader.ts';
import type { SessionLog } from '../../session/open-log.ts';
import { span, visible, visibleLines } from '../../session/screen/line.ts';
import { openLateDoor, type SessionDoor } from '../../session/screen/session-door.ts';
import { sound } from '../../session/state/settings.ts';
import { slashCommands } from '../../session/state/slash-words.ts';
import { allCapabilities, type Snapshot } from '../../session/state/snapshot.ts';
import { type OwnKeys, readKeymap, usualKeys } from '../../session/tui/composer/own-keys.ts';
import { greetingLines } from '../../session/tui/open-printer.ts';
import { openScreen, type Screen, type ScreenEnd } from '../../session/tui/open-screen.ts';
import { openTerminal } from '../../session/tui/term/open-terminal.ts';
import { type Ground, processGround } from '../../session/tui/term/process-ground.ts';
import { type ChosenTheme, chosenThemes, pickTheme, themes } from '../../session/tui/term/row.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import type { Aside, CodeLine } from './code-line.ts';
import type { DraftKeeper } from './edit-outside.ts';

export interface AroundScreen {
  readonly log: SessionLog;
  /** Destination of notes while a screen is shown. */
  readonly aside: Aside;
}

/**
 * Runs `writ code` on a terminal: draws the screen, opens the session behind it, and serves until the user leaves.
 * Switching to another thread keeps the command line except for the thread.
 */
export async function codeOnScreen(
  context: CommandContext,
  line: CodeLine,
  around: AroundScreen,
): Promise<CommandResult> {
  const { result, resume } = await oneThread(context, line, around);
  return resume === undefined ? result : codeOnScreen(context, { ...line, resume }, around);
}

async function oneThread(
  context: CommandContext,
  line: CodeLine,
  { log, aside }: AroundScreen,
): Promise<{ readonly result: CommandResult; readonly resume?: string }> {
  const own = await readOwnScreen(context.env);
  const late = openLateDoor(startingSnapshot(line, toRfc3339(systemClock.now())));
  const shown = showScreen(context, { door: late.door, line, aside, ground: processGround(), own });
  const left = new AbortController();
  let isServed = false;
  void shown.ended.then(() => {
    if (!isServed) left.abort();
  });
  const signal = AbortSignal.any([context.signal, left.signal]);
  try {
    // Handles pending input before the slow import.
    await setImmediate();
    const { serveLine } = await import('./serve-line.ts');
    const result = await serveLine({ ...context, signal }, line, log, {
      async served({ served, repository, mask }) {
        isServed = true;
        if (signal.aborted) return tellUnsent(context, shown.unsent());
        const { openDraftKeeper } = await import('./edit-outside.ts');
        const keeper = await openDraftKeeper(repository, served.threadId, {
          clock: systemClock,
          mask,
          report: (fault) => context.print.note(`what you type is not kept: ${messageOf(fault)}`),
        });
        await late.open(served.door);
        const { findFileCommands } = await import('../../engine/context/file-commands.ts');
        const { userConfigDir } = await import('../../attest/keys/user-config-dir.ts');
        const found = await findFileCommands(repository, userConfigDir(context.env));
        shown.opened(
          served,
          keeper,
          [...found.values()].map(({ name, description }) => ({
            form: `/${name} [TEXT]`,
            says: description,
          })),
        );
        await shown.ended;
        await keeper.close();
        if (shown.unsent().length > 0) context.print.note('what was not sent is kept with the thread');
      },
    });
    return { result, ...(await shown.ended) };
  } catch (fault) {
    shown.close();
    if (!isServed) tellUnsent(context, shown.unsent());
    if (isServed || !signal.aborted || !isInterruption(fault)) throw fault;
    // Its user left before it was there.
    return { result: succeeded({}, () => {}), ...(await shown.ended) };
  } finally {
    shown.close();
  }
}

/** Prints unsent input if the session could not be opened, so that the user can copy it. */
function tellUnsent({ print }: CommandContext, unsent: readonly string[]): void {
  for (const text of unsent) for (const line of visibleLines(text)) print.note(`not sent: ${line}`);
}

/** What work that is called off rejects with. */
function isInterruption(fault: unknown): boolean {
  return isWritError(fault)
    ? fault.code === 'RUN_INTERRUPTED'
    : fault instanceof Error && fault.name === 'AbortError';
}

/** What a screen is opened with, before there is a session. */
interface ShownSession {
  /** Shows what is known already until its session is there. */
  readonly door: SessionDoor;
  readonly line: Pick<CodeLine, 'workingDir'>;
  readonly ground: Ground;
  /** Other output while the screen is shown. */
  readonly aside: Aside;
  readonly own: OwnScreen;
}

/** What a user chose for every screen. */
interface OwnScreen {
  readonly theme: ChosenTheme;
  readonly keys: OwnKeys;
}

/** Reads `[screen]` and `[keys]` of the user's `config.toml`. CONFIG_INVALID, KEY_INSECURE. */
async function readOwnScreen(env: CommandContext['env']): Promise<OwnScreen> {
  const { readUserConfig } = await import('../../attest/keys/user-config-dir.ts');
  const config = await readUserConfig(env);
  if (config === undefined) return { theme: 'auto', keys: usualKeys };
  const { readUserTable } = await import('../../engine/config/table-reader.ts');
  return { theme: readUserTable(config, 'screen', readTheme), keys: readUserTable(config, 'keys', readKeys) };
}

function readTheme(reader: TableReader): ChosenTheme {
  const theme = oneWord(reader, 'theme', chosenThemes);
  reader.end();
  return theme;
}

function readKeys(reader: TableReader): OwnKeys {
  const isVim = oneWord(reader, 'mode', ['usual', 'vim']) === 'vim';
  const wanted = reader.keys().filter((name) => name !== 'mode');
  const map = readKeymap(
    Object.fromEntries(wanted.map((name) => [name, reader.texts(name, [])])),
    (name, why) => reader.refuse(reader.at(name), why),
  );
  return { isVim, map };
}

function oneWord<Word extends string>(
  reader: TableReader,
  key: string,
  words: readonly [Word, ...Word[]],
): Word {
  const given = reader.text(key, words[0]);
  const found = words.find((word) => word === given);
  if (found === undefined)
    reader.refuse(reader.at(key), `expected one of ${words.join(', ')}, found \`${given}\``);
  return found ?? words[0];
}

/** A screen in this process's terminal. */
interface ShownScreen {
  /** The session is there, and served there; `keeper` keeps what is typed and not sent. */
  opened(
    at: { readonly baseUrl: string },
    keeper: DraftKeeper,
    commands: readonly { readonly form: string; readonly says: string }[],
  ): void;
  readonly unsent: Screen['unsent'];
  /** Resolves when the user leaves or the signal aborts. The terminal is then restored. */
  readonly ended: Promise<ScreenEnd>;
  /** The terminal is as it was found. Any number of times. */
  close(): void;
}

/** Draws a screen and starts reading keys. */
function showScreen(
  { env, cwd, options, colour, signal, leaveInterrupts, stores }: CommandContext,
  { door, line, ground, aside, own }: ShownSession,
): ShownScreen {
  let keeper: DraftKeeper | undefined;
  const over = Promise.withResolvers<ScreenEnd>();
  const isPlain = options.flag('plain');
  let around: Promise<(prefix: string) => Promise<readonly string[]>> | undefined;
  const terminal = openTerminal({
    ground,
    clock: systemClock,
    theme: themes[pickTheme(env, { colour, plain: isPlain, theme: own.theme })],
    isPlain,
    told: {
      keys: (keys) => screen.press(keys),
      isAsking: () => screen.isAsking(),
      resized: (size) => screen.resized(size),
      ended: () => leave({}),
    },
  });
  const screen = openScreen({
    door,
    painter: terminal.painter,
    size: terminal.size(),
    isPlain,
    clock: systemClock,
    commands: slashCommands,
    own: own.keys,
    async paths(prefix) {
      around ??= import('./agent-at.ts').then(({ pathsAround }) => pathsAround(line.workingDir));
      return (await around)(prefix);
    },
    edit: (text) =>
      terminal.lend(async () => {
        const { editOutside } = await import('./edit-outside.ts');
        const takeBack = leaveInterrupts?.();
        return editOutside(text, { cwd, env }).finally(takeBack);
      }),
    async write(path, text) {
      const { writeOutput } = await import('../command-parts/write-output.ts');
      return writeOutput(cwd, typedPath(path, env.HOME), text);
    },
    async isRun(word) {
      const { isRun } = await import('../../store/record/list-records.ts');
      const { openRepository } = await import('../../workspace/git/repository.ts');
      return isRun(stores, await openRepository(line.workingDir), systemClock, word);
    },
    suspend: () => terminal.suspend(),
    ...(env.WRIT_NOTIFY === 'off'
      ? {}
      : {
          announce({ text, isBusy, isAlert }) {
            terminal.title(text, isBusy);
            if (!isAlert) return;
            terminal.call(text);
            void callProgram({ cwd, env }, text);
          },
        }),
    keep: (of) => keeper?.keep(of),
  });
  const stopListening = aside.listen((text) => screen.say([[span('· ', 'dim'), span(visible(text), 'dim')]]));
  const interrupted = (): void => leave({});
  const close = (): void => {
    signal.removeEventListener('abort', interrupted);
    stopListening();
    screen.close();
    terminal.close();
  };
  const leave = (how: ScreenEnd): void => {
    close();
    over.resolve(how);
  };
  signal.addEventListener('abort', interrupted, { once: true });
  void screen.ended.then(leave);
  if (signal.aborted) interrupted();
  return {
    opened({ baseUrl }, opened, commands) {
      keeper = opened;
      screen.opened(greetingLines(door.snapshot(), baseUrl), opened.draft, commands);
      void import('../../session/screen/highlighter.ts').then(({ loadHighlighting }) => loadHighlighting());
    },
    unsent: () => screen.unsent(),
    ended: over.promise,
    close,
  };
}

/**
 * Snapshot to show while the session opens, built from the command line. Its status is working, so that sent messages
 * wait. With an agent profile the model is unknown until the profile is read.
 */
function startingSnapshot(line: CodeLine, now: string): Snapshot {
  const { workingDir, agent, model, resume = '', context = 'dev', networkAccess = 'deny' } = line;
  // The journal of a resumed thread knows its model; that of a new one depends on the keys that are found.
  const provider = line.provider ?? (resume === '' ? 'the model' : 'the model of the thread');
  return {
    sessionId: '',
    threadId: resume,
    workingDir,
    provider: {
      provider: agent === undefined ? provider : `agent ${agent}`,
      ...(agent === undefined && model !== undefined ? { model } : {}),
      managed: false,
    },
    capabilities: allCapabilities,
    controller: { kind: 'tui', canWrite: true, loopbackOnly: true },
    status: 'thinking',
    settings: sound({ context, networkAccess }),
    transcript: [],
    plans: [],
    tasks: [],
    toolCalls: [],
    patchsets: [],
    interactions: [],
    updatedAt: now,
  };
}

/** Longest run of the program that is told of a waiting session. */
const callMs = 10_000;

/** Runs the program of `WRIT_NOTIFY_COMMAND` with the text as its last argument, without a shell. Faults are silent. */
async function callProgram({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>, text: string): Promise<void> {
  const argv = (env.WRIT_NOTIFY_COMMAND ?? '').split(/\s+/).filter((word) => word !== '');
  if (argv.length === 0) return;
  const { execFileBounded } = await import('../../workspace/process/spawn.ts');
  const own = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  await execFileBounded([...argv, text], {
    cwd,
    env: own,
    maxBytes: 64 * 1024,
    signal: AbortSignal.timeout(callMs),
  }).catch(() => undefined);
}

/** A path as a person types it where no shell reads it: without the quotes around it, and `~/` for the home. */
export function typedPath(typed: string, home: string | undefined): string {
  const [, , quoted] = /^(["'])(.+)\1$/s.exec(typed) ?? [];
  const path = quoted ?? typed;
  return home !== undefined && path.startsWith('~/') ? join(home, path.slice(2)) : path;
}
