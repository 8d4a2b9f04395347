/* The one entry for tool calls of a model, and the tools and limits of one attempt. */
import { canonicalDigest, sha256Hex } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { LookAtChange, ToolRequest } from '../../core/interfaces/hook-payload.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { HandAnswer } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';

/** Uses that one attempt may make: beyond, it goes round in circles. */
const maxUses = 5000;
export const usualBound: ToolEntryBound = {
  most: maxUses,
  told: `an attempt may use its tools ${maxUses} times`,
};

/** Shared by the tools of one attempt: the run's clock and signal, the spec's privacy policy, and one record. */
export interface AttemptTools extends ToolSetting {
  /** Key of the Task. */
  readonly task: string;
  readonly calls: CallJournal;
  /** What output of the run must not hold. */
  readonly policy: PrivacyPolicy;
  /** Every use, in order of its end. */
  readonly used: readonly UsedTool[];
  /** The first fault of a tool itself: whatever its worker makes of it, the attempt has failed. */
  broken(): WritError | undefined;
}

/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface ToolPlace {
  readonly workspace: string;
  readonly reports: string;
  /** Creates, on first use, the directory with the stubs that replace version control for commands. */
  readonly stubs: () => Promise<string>;
}

/** A tool call with the tool's own verdict, from rules, scope and other facts. Guards run after it. */
export interface AuthorizedTool {
  readonly request: ToolRequest;
  /** The arguments, for the digest in the record. */
  readonly given: ToolArguments;
  /** If present, no guard runs and no person is prompted. */
  readonly refusal?: Finding;
  /** Bytes of its result that the rules let through. */
  readonly maxResultBytes?: number;
  /** Of a use that writes: what it would make of its file. */
  readonly change?: LookAtChange;
}

/** How a call ended; without text if the worker's own program received the result. */
type ToolEnd = Pick<HandAnswer, 'outcome' | 'exitCode' | 'heldBack'> & { readonly text?: string };

/** A use that was allowed and is to be ended, once. */
interface BegunUse {
  /** Ends the call; returns the text that the caller may see: masked, then truncated. */
  settle(end: ToolEnd): Promise<string>;
}

/** A refused call: the reason, and the text that the caller may see. */
interface RefusedUse {
  readonly refusal: string;
  readonly text: string;
}

/**
 * Awaited before any part of a call leaves the machine, so that the call is recorded first. If the process is killed,
 * the call is then not repeated without people knowing (`docs/decisions/0013-model-turns.md`).
 */
export type Leaving = () => Promise<void>;

/** Checks one call; returns a text if the call is too malformed to be recorded. */
type JudgeTool<Judged extends AuthorizedTool> = () => Judged | string | Promise<Judged | string>;

/** Runs an allowed call to its end and records it; a failure is recorded and rejects. */
export type ToEnd = (act: (leaving: Leaving) => Promise<HandAnswer>) => Promise<HandAnswer>;

/** Runs tool calls one after the other. */
interface ToolDoor {
  /** What was done there, in order of its end. */
  readonly used: readonly UsedTool[];
  /** Checks, runs and records a call; a refusal is returned as an answer. Rejects if `act` rejects. */
  use<Judged extends AuthorizedTool>(
    judge: JudgeTool<Judged>,
    act: (judged: Judged, leaving: Leaving) => Promise<HandAnswer>,
  ): Promise<HandAnswer>;
  /** The same where `act` answers before the call has ended; the call is recorded when `toEnd` has run. */
  start<Judged extends AuthorizedTool>(
    judge: JudgeTool<Judged>,
    act: (judged: Judged, toEnd: ToEnd) => HandAnswer | Promise<HandAnswer>,
  ): Promise<HandAnswer>;
  /** The same where somebody else acts, who cannot leave the machine. */
  begin(judge: JudgeTool<AuthorizedTool>): Promise<BegunUse | RefusedUse>;
}

/** The journal of calls that leave the machine, for the tools of one attempt. */
export interface CallJournal {
  /** Why the same call is not made again; `undefined` if no interrupted attempt made it, or a person allows it. */
  refusal(asked: Pick<KeptArguments, 'tool' | 'action' | 'argumentsDigest'>): Finding | undefined;
  /**
   * Records the start of a call and resolves when it is on disk. The caller makes the call after that and reports its
   * end. Throws EVIDENCE_WRITE_FAILED.
   */
  begin(
    asked: KeptArguments & Pick<UsedTool, 'startedAt'>,
  ): Promise<(end: Pick<ToolEnd, 'outcome' | 'exitCode'> & { readonly durationMs: number }) => Promise<void>>;
  /** Writes down what the attempt's turns came to so far. */
  spend(spent: { readonly turns: number; readonly tokensUsed: number; readonly costUnits: number }): void;
}

/** What the tools of an attempt, or of a draft, are used with. */
export interface ToolSetting {
  readonly engine: Pick<WritEngine, 'hooks' | 'clock'>;
  readonly nowMs: () => number;
  /** Masks text that must not be stored or shown. */
  readonly mask: (text: string) => string;
  readonly signal: AbortSignal;
  /** Adds a call to the record. */
  readonly keep?: (use: UsedTool) => void;
  /** What the attempt did outside; absent where none of its tools leads there. */
  readonly calls?: CallJournal;
  /**
   * Prompts the person who controls the session about a call that rules and guards allow; absent: no one can answer.
   */
  readonly consent?: (request: ToolRequest, change?: LookAtChange) => Promise<Finding | undefined>;
  /** Called when a tool itself fails (TOOL_FAILED). */
  readonly broke?: (fault: WritError) => void;
  /** Key of the Task, if its plan has several: every request names it. */
  readonly label?: string;
}

/** The maximum number of calls, and the text returned above it. */
interface ToolEntryBound {
  readonly most: number;
  readonly told: string;
}

/**
 * Opens a sequence of tool calls. Tools are used only here (`docs/decisions/0013-model-turns.md`). Order: the tool's
 * own check, guards, start event, the call, end event, entry in the attempt's record.
 */
export function openToolEntry(setting: ToolSetting, { most, told }: ToolEntryBound): ToolDoor {
  const { engine, nowMs, mask, signal, calls, label } = setting;
  const { hooks, clock } = engine;
  const used: UsedTool[] = [];
  let uses = 0;

  const refused = (refusal: string): RefusedUse => ({ refusal, text: mask(deniedText(refusal)) });
  const begin = async <Judged extends AuthorizedTool>(
    judge: JudgeTool<Judged>,
  ): Promise<(BegunUse & { readonly judged: Judged; readonly leaving: Leaving }) | RefusedUse> => {
    signal.throwIfAborted();
    if (uses >= most) return refused(told);
    let started = clock.monotonic();
    let startedAt = toRfc3339(nowMs());
    const judged = await judgeWhole(judge);
    if (typeof judged === 'string') return refused(judged);
    uses += 1;
    const { request, given, maxResultBytes } = judged;
    const kept = keptArguments(request, given, mask);
    let left: ReturnType<CallJournal['begin']> | undefined;
    const leaving = async (): Promise<void> => {
      if (calls === undefined)
        throw new TypeError(`\`${request.tool}\` leaves the machine, and no one counts the uses`);
      left ??= calls.begin({ ...kept, startedAt });
      await left;
    };
    const settle = async (
      { outcome, exitCode, heldBack, text }: ToolEnd,
      refusal?: Finding,
    ): Promise<string> => {
      const durationMs = Math.round(clock.monotonic() - started);
      const ended = { outcome, ...(exitCode === undefined ? {} : { exitCode }), durationMs };
      // Mask before truncating: a truncated secret would not be recognised.
      const shown = text === undefined ? undefined : cutText(mask(text), maxResultBytes);
      const use = {
        ...kept,
        ...ended,
        ...(refusal === undefined ? {} : { refusal: refusal.rule }),
        startedAt,
        ...(shown === undefined ? {} : { resultDigest: sha256Hex(shown) }),
      };
      used.push(use);
      setting.keep?.(use);
      await (await left)?.({ ...ended });
      await hooks.tool.settled.call({
        request,
        ...ended,
        ...(heldBack === undefined ? {} : { heldBack: mask(heldBack) }),
        ...(refusal === undefined ? {} : { refusal }),
      });
      return shown ?? '';
    };
    const consented = async ({ request: asked, change }: AuthorizedTool): Promise<Finding | undefined> => {
      if (setting.consent === undefined) return undefined;
      const answer = await setting.consent(asked, change);
      // A person's response time does not count as the tool's.
      started = clock.monotonic();
      startedAt = toRfc3339(nowMs());
      return answer;
    };
    const refusal =
      judged.refusal ??
      calls?.refusal(kept) ??
      (await hooks.tool.guard.call(request)) ??
      (await consented(judged));
    if (refusal) {
      const { message } = refusal;
      const text = await settle({ outcome: 'denied', text: deniedText(message) }, refusal);
      return { refusal: message, text };
    }
    await hooks.tool.started.call(request);
    return { judged, leaving, settle };
  };

  const broken = (what: string, cause: unknown): WritError => {
    const fault = toolFailed(what, mask(messageOf(cause)), cause);
    setting.broke?.(fault);
    return fault;
  };
  const judgeWhole = async <Judged extends AuthorizedTool>(
    judge: JudgeTool<Judged>,
  ): Promise<Judged | string> => {
    try {
      return labelled(await judge(), label);
    } catch (cause) {
      signal.throwIfAborted();
      throw isWritError(cause) ? cause : broken('a use that could not be authorized', cause);
    }
  };
  /** Runs the call; a call that throws is recorded too. */
  const done = async (
    { judged, settle }: BegunUse & { readonly judged: AuthorizedTool },
    act: () => Promise<HandAnswer>,
  ): Promise<HandAnswer> => {
    try {
      return await act();
    } catch (cause) {
      // The run was stopped, so it is unknown how far the call got.
      signal.throwIfAborted();
      const { tool, action } = judged.request;
      const fault = isWritError(cause) ? cause : broken(`\`${tool}\` (${action})`, cause);
      await settle({ outcome: 'failed', text: `failed: ${fault.code}` });
      throw fault;
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act);
    last = next.catch(() => undefined);
    return next;
  };
  const start: ToolDoor['start'] = (judge, act) =>
    inTurn(async () => {
      const begun = await begin(judge);
      if ('refusal' in begun) return { outcome: 'denied', text: begun.text };
      return act(begun.judged, async (run) => {
        const answer = await done(begun, () => run(begun.leaving));
        return { ...answer, text: await begun.settle(answer) };
      });
    });
  return {
    used,
    begin: (judge) => inTurn(() => begin(judge)),
    start,
    use: (judge, act) => start(judge, (judged, toEnd) => toEnd((leaving) => act(judged, leaving))),
  };
}

/** The same call with the Task that it is for. */
function labelled<Judged extends AuthorizedTool>(
  judged: Judged | string,
  task: string | undefined,
): Judged | string {
  if (typeof judged === 'string' || task === undefined) return judged;
  return { ...judged, request: { ...judged.request, task } };
}

const maxFaultText = 300;

/** An unexpected exception in a tool: a bug in writ or in a plugin. */
export function toolFailed(what: string, words: string, cause: unknown): WritError {
  const found = words.slice(0, maxFaultText).toWellFormed();
  return new WritError('TOOL_FAILED', {
    message: `a tool broke: ${what}: ${found}`,
    detail: { found },
    cause,
  });
}

function deniedText(why: string): string {
  return `denied: ${why}`;
}

/**
 * Truncates a text to `maxBytes` at a character boundary and appends a line that reports the cut. No bound: returns
 * the text unchanged.
 */
export function cutText(text: string, maxBytes: number | undefined): string {
  const bytes = Buffer.from(text);
  if (maxBytes === undefined || bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}\n[cut: ${end} of ${bytes.length} bytes; a rule of the contract lets through no more]`;
}

const maxCharactersKept = 16 * 1024;

/** Arguments of a call by name; bytes are represented by their digest. */
type ToolArguments = Readonly<Record<string, string | number | Uint8Array | undefined>>;

/** The arguments as stored in a record: masked, and without characters that it cannot hold. */
function keptArguments(
  { tool, action, paths: [path] = [], command, query }: ToolRequest,
  given: ToolArguments,
  mask: (text: string) => string,
): KeptArguments {
  const kept = (text: string): string =>
    mask(text).slice(0, maxCharactersKept).replaceAll('\0', '\ufffd').toWellFormed();
  const plain = (value: ToolArguments[string]): unknown => {
    if (typeof value === 'string') return mask(value).toWellFormed();
    return value instanceof Uint8Array ? sha256Hex(value) : value;
  };
  const masked = Object.entries(given).map(([name, value]): [string, unknown] => [name, plain(value)]);
  return {
    tool,
    action,
    ...(path === undefined ? {} : { path: kept(path) }),
    ...(command === undefined ? {} : { command: kept(command) }),
    ...(query === undefined ? {} : { query: kept(query) }),
    argumentsDigest: canonicalDigest(Object.fromEntries(masked)),
  };
}

/** A tool call in the attempt's record: its arguments and outcome, never the content that it read. */
export interface UsedTool {
  readonly tool: string;
  readonly action: string;
  readonly path?: string;
  readonly command?: string;
  /** Query or address. */
  readonly query?: string;
  /** `unknown`: its process was killed before its end. */
  readonly outcome: HandAnswer['outcome'] | 'unknown';
  /** Rule that denied it. */
  readonly refusal?: string;
  readonly exitCode?: number;
  readonly durationMs: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Digest of the arguments, without content that must not be kept. */
  readonly argumentsDigest: string;
  /** Digest of the redacted result; absent if the worker's own program made the call. */
  readonly resultDigest?: string;
}

/** The recorded arguments of a call. */
type KeptArguments = Pick<UsedTool, 'tool' | 'action' | 'path' | 'command' | 'query' | 'argumentsDigest'>;
