/* The screen of a session in a terminal. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { answeredWords, isSecretAsked, nextAsked } from '../screen/asked.ts';
import { type Line, span, visible } from '../screen/line.ts';
import type { SessionDoor } from '../screen/session-door.ts';
import { isBusy, usualPorts } from '../screen/status-line.ts';
import { hangLine } from '../screen/wrap.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { edited, giveBack, offered } from './composer/compose.ts';
import {
  type Composer,
  type Draft,
  draftOf,
  emptyComposer,
  unsentOf,
  withDraft,
} from './composer/composer.ts';
import { type OwnKeys, usualKeys } from './composer/own-keys.ts';
import { type CommandRow, commandRows, type LocalCommand, undoOffersFor } from './local-commands.ts';
import { openPrinter, printedFrom } from './open-printer.ts';
import { openEarlier } from './show/earlier.ts';
import { findThread, showLocal } from './show/show-local.ts';
import { type Key, openFrames, type Painter, type Size } from './term/painter.ts';
import { openDrawer, turnCost } from './view/open-drawer.ts';
import {
  type Effect,
  halfWritten,
  hearsLetters,
  openView,
  pressView,
  refusedAnswer,
  seeSnapshot,
  type View,
  withoutWriting,
} from './view/view.ts';

interface ScreenParts {
  readonly door: SessionDoor;
  readonly painter: Painter;
  readonly size: Size;
  /** Output as appended lines without a live region. */
  readonly isPlain?: boolean;
  readonly clock: Clock;
  readonly commands: readonly CommandRow[];
  /** Keys of the user's own configuration. */
  readonly own?: OwnKeys;
  /** Printed first; absent while the session is still being opened. */
  readonly greeting?: readonly Line[];
  readonly paths: (prefix: string) => Promise<readonly string[]>;
  /** Lends the terminal to an editor of the person's; what became of the text. */
  readonly edit: (text: string) => Promise<string>;
  readonly write: (path: string, text: string) => Promise<string>;
  /** Whether a word names a run of this repository, and no thread. */
  readonly isRun?: (word: string) => Promise<boolean>;
  readonly suspend: () => void;
  /** Called when the session begins to work, waits for an answer, or has finished. Absent: no notifications. */
  readonly announce?: (news: Announcement) => void;
  /** Called when the unsent text changes, with a function that returns it. Never called for a secret. */
  readonly keep?: (of: () => Draft) => void;
}

/** What a session began to do. `isAlert`: after a long wait a person is wanted. */
export interface Announcement {
  readonly text: string;
  readonly isBusy: boolean;
  readonly isAlert: boolean;
}

export interface ScreenEnd {
  readonly resume?: string;
}

export interface Screen {
  press(keys: readonly Key[]): void;
  /** Whether a letter may answer a question. */
  isAsking(): boolean;
  resized(size: Size): void;
  /** The session is open: prints the greeting, sends what waits, and restores the draft of its thread. */
  opened(greeting: readonly Line[], draft?: Draft, commands?: readonly CommandRow[]): void;
  /** Prints lines above the live region. */
  say(lines: readonly Line[]): void;
  /** Text that was typed and not sent. */
  unsent(): readonly string[];
  readonly ended: Promise<ScreenEnd>;
  close(): void;
}

const tickMs = 1000;
/** A person waits for a shorter turn at the screen. */
const longMs = 10_000;
const unsaid = { lines: [], open: [] };

/** The screen of a session in a terminal: draws its snapshots and sends what its user types. */
export function openScreen(parts: ScreenParts): Screen {
  const { door, painter, clock, own = usualKeys } = parts;
  let rows = commandRows(parts.commands);
  let offers = rows.map(({ form, says }) => offerOf(form, says));
  const printer = openPrinter();
  const earlier = openEarlier(door, printedFrom(door.snapshot()));
  const ended = Promise.withResolvers<ScreenEnd>();
  const last = {};
  const over = new AbortController();
  const show = openDrawer(painter, parts.isPlain === true);
  let { size } = parts;
  let kept: Composer | undefined;
  let isOpening = true;
  let view: View = { ...openView(emptyComposer), facts: { isStarting: true } };

  const draw = (): void => {
    const snapshot = door.snapshot();
    const { time } = view;
    const stepped = seeSnapshot(view, snapshot, clock.now());
    ({ view } = stepped);
    // The end of the opening is not the end of a turn.
    const cost = isOpening ? [] : turnCost(time, view.time, snapshot, clock.now());
    isOpening &&= view.facts.isStarting === true;
    const { lines, open } = view.facts.isStarting === true ? unsaid : printer.print(snapshot, size.columns);
    show(view, snapshot, { ...size, nowMs: clock.now(), lines: [...lines, ...cost], open });
    for (const effect of stepped.effects) act(effect);
    keep(snapshot);
    announce(snapshot);
  };
  const keep = (snapshot: Snapshot): void => {
    const now = view;
    if (now.composer === kept || now.facts.isStarting === true || isSecretAsked(snapshot)) return;
    kept = now.composer;
    parts.keep?.(() => draftOf(withoutWriting(now).composer, saidBefore(snapshot)));
  };
  let was: Snapshot['status'] = 'idle';
  let busyMs = clock.now();
  const announce = ({ status, workingDir }: Snapshot): void => {
    if (status === was || view.facts.isStarting === true) return;
    const [wasBusy, isBusyNow] = [isWorking(was), isWorking(status)];
    if (isBusyNow && !wasBusy) busyMs = clock.now();
    was = status;
    const isAlert = wasBusy && !isBusyNow && clock.now() - busyMs >= longMs;
    const text = `writ ${workingDir.split('/').at(-1)}: ${announcedWords[status]}`;
    parts.announce?.({ text, isBusy: isBusyNow, isAlert });
  };
  const frames = openFrames(clock, draw);
  const say = (lines: readonly Line[]): void => {
    painter.commit(lines.flatMap((line) => hangLine(line, size.columns)));
    frames.ask();
  };
  const notice = (line: Line): void => {
    view = { ...view, notice: line };
    frames.ask();
  };
  const givenBack = (text: string, why: string): void => {
    view = { ...view, composer: giveBack(view.composer, text, why) };
    frames.ask();
  };
  const failed = (fault: unknown): void => notice([span(faultWords(fault), 'bad')]);
  const refreshFacts = async (): Promise<void> => {
    const approvals = (await door.approvals()).length;
    if (approvals !== view.facts.approvals) {
      view = { ...view, facts: { ...view.facts, approvals } };
      frames.ask();
    }
  };

  const act = (effect: Effect): void => {
    switch (effect.type) {
      case 'submit':
        door.submit(effect.text).catch((fault: unknown) => givenBack(effect.text, faultWords(fault)));
        return;
      case 'respond': {
        const asked = nextAsked(door.snapshot());
        if (asked !== undefined) printer.answered(effect.id, visible(answeredWords(asked, effect.given)));
        door
          .respond(effect.id, effect.given)
          .then(refreshFacts, (fault: unknown) => {
            view = refusedAnswer(view, effect, faultWords(fault));
            frames.ask();
          })
          .catch(failed);
        return;
      }
      case 'cancel':
        door.cancel().then(() => say([[span('· the turn was stopped', 'dim')]]), failed);
        return;
      case 'local':
        local(effect.command).catch((fault: unknown) =>
          effect.text === undefined ? failed(fault) : givenBack(effect.text, faultWords(fault)),
        );
        return;
      case 'edit':
        parts
          .edit(effect.text)
          .then((text) => {
            view = { ...view, composer: edited(view.composer, text) };
            frames.ask();
          })
          .catch(failed);
        return;
      case 'complete':
        parts.paths(effect.prefix).then((items) => {
          view = { ...view, composer: offered(view.composer, effect.id, items) };
          frames.ask();
        }, failed);
        return;
      case 'suspend':
        parts.suspend();
        return;
      case 'redraw':
        painter.resized(size);
        return;
      case 'quit':
        ended.resolve({});
    }
  };
  const local = async (command: LocalCommand): Promise<void> => {
    if (command.type === 'none') throw new WritError('UNSUPPORTED_OPERATION', { message: command.why });
    if (command.type === 'quit') ended.resolve({});
    else if (command.type === 'resume') await goOnWith(command.thread);
    else
      say(
        await showLocal(command, {
          door,
          rows,
          own,
          columns: size.columns,
          earlier,
          last,
          nowMs: clock.now(),
          write: parts.write,
        }),
      );
    await refreshFacts();
  };

  const goOnWith = async (word: string): Promise<void> => {
    const thread = await findThread(door, word);
    if (thread !== undefined) ended.resolve({ resume: thread });
    else if (await parts.isRun?.(word))
      say([[span(`  that is a run: \`writ resume ${visible(word)}\` goes on with it, in a shell`, 'warn')]]);
    else say([[span(`  no thread \`${visible(word)}\`, or several: \`/resume\` lists them`, 'warn')]]);
  };

  const tick = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await clock.sleep(tickMs, over.signal);
      if (isBusy(door.snapshot())) frames.ask();
      await refreshFacts();
    }
  };
  const opened: Screen['opened'] = (greeting, draft, more = []): void => {
    rows = commandRows([...parts.commands, ...more]);
    offers = rows.map(({ form, says }) => offerOf(form, says));
    const { isStarting: _, ...facts } = view.facts;
    const time = view.time && { ...view.time, sinceMs: clock.now(), workedMs: 0 };
    view = { ...view, facts, time, composer: withDraft(view.composer, saidBefore(door.snapshot()), draft) };
    door
      .diagnostics()
      .then(({ sandbox, ports }) => {
        const { web = usualPorts.web } = ports ?? {};
        if (sandbox !== undefined) view = { ...view, facts: { ...view.facts, sandbox: sandbox.backend } };
        if (web !== usualPorts.web) view = { ...view, facts: { ...view.facts, port: web } };
        frames.ask();
      })
      .catch(failed);
    painter.commit(greeting);
    frames.now();
  };
  const stopFollowing = door.follow(() => frames.ask());
  tick().catch(() => {});
  if (parts.greeting === undefined) frames.now();
  else opened(parts.greeting);
  return {
    opened,
    press(keys) {
      for (const key of keys) {
        const snapshot = door.snapshot();
        const pressed = pressView(view, snapshot, key, {
          nowMs: clock.now(),
          ...size,
          own,
          commands: [...offers, ...undoOffersFor(view.composer.buffer.text, key, snapshot)],
        });
        ({ view } = pressed);
        for (const effect of pressed.effects) act(effect);
      }
      frames.now();
    },
    isAsking: () => hearsLetters(view, door.snapshot()),
    resized(to) {
      size = to;
      frames.now();
    },
    say,
    unsent: () => [...unsentOf(view.aside ?? view.composer), halfWritten(view)].filter((text) => text !== ''),
    ended: ended.promise,
    close() {
      over.abort();
      stopFollowing();
      frames.stop();
      painter.close();
    },
  };
}

function isWorking(status: Snapshot['status']): boolean {
  return status === 'thinking' || status === 'executing_tool';
}

const announcedWords: Readonly<Record<Snapshot['status'], string>> = {
  idle: 'ready',
  thinking: 'thinking',
  executing_tool: 'working',
  awaiting_interaction: 'asks you',
  completed: 'done',
  error: 'failed',
};

function saidBefore({ transcript }: Snapshot): readonly string[] {
  return transcript.flatMap(({ kind, content }) =>
    kind === 'user_message' && content !== undefined ? [content] : [],
  );
}

/** Splits `/plan continue [N]` into the words to type and the arguments. */
function offerOf(form: string, description: string) {
  const words = form.slice(1).split(' ');
  const first = words.findIndex((word) => !/^[a-z0-9-]+$/.test(word));
  const typed = first < 0 ? words : words.slice(0, first);
  return { name: typed.join(' '), arguments: words.slice(typed.length).join(' '), description };
}

/** An error in words: the fault, the next step, and the code last. */
function faultWords(fault: unknown): string {
  if (!isWritError(fault)) return visible(messageOf(fault));
  const { code, message, hints, detail } = fault;
  if (detail.reason === 'lease_held')
    return visible(`${detail.kind ?? 'somebody else'} steers the session: Ctrl+T takes it back`);
  if (typeof detail.unknown === 'string')
    return visible(`there is no command \`/${detail.unknown}\`: /help lists them; or put a word before it`);
  const [hint] = hints;
  return visible(`${message}${hint === undefined ? '' : `; ${hint}`} (${code})`);
}
