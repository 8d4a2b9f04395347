/* The `writ queue` commands, and `writ run --queue`. */
import { readVersion } from '../../api/build.ts';
import { readSpecFile } from '../../api/intent/read-spec.ts';
import { readInput } from '../../api/read-input.ts';
import { withLandingState } from '../../api/run/approve-run.ts';
import { openRun } from '../../api/run/open-run.ts';
import { cancelRun } from '../../api/run/waiting-run.ts';
import { queueSchema } from '../../api/schemas/other-schemas.ts';
import { toShape } from '../../api/schemas/shape.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { rangeChange } from '../../engine/draft/seal-request.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { openRunStore } from '../../engine/intent/find-intent.ts';
import { requireActive } from '../../engine/intent/intent-history.ts';
import { wordsHoldSecret } from '../../engine/open/read-authorship.ts';
import { openStatedRepository } from '../../engine/open/repository-checks.ts';
import { resolveOrigin } from '../../engine/state/run-request.ts';
import { type QueuePass, type ShownEntry, showQueue, workQueue } from '../../engine/work-queue.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import {
  addEntries,
  hasEnded,
  lockQueue,
  maxQueuedBytes,
  noEntry,
  type QueuedChange,
  type QueueEntry,
  readEntry,
  removeEntry,
  writeEntry,
} from '../../store/queue-entries.ts';
import { isRunHeld, runDirectory } from '../../store/run-directory.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { planTarget, shortBranch } from '../../workspace/git/target.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine, openPluginAccess } from '../command-parts/engine.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { finishRun } from './run.ts';
import { buildSpec } from './seal.ts';

/** `writ queue add SPEC…`: one `--patch` or `--range` for each spec, in the same order; without SPEC it is built. */
export async function queueAddCommand(context: CommandContext): Promise<CommandResult> {
  const { args, options } = context;
  const patches = options.values('patch');
  const ranges = options.values('range');
  if (patches.length > 0 && ranges.length > 0)
    throw new WritError('USAGE', {
      message: '`--patch` and `--range` cannot be combined. Add the specs in two commands',
    });
  const given = patches.length + ranges.length;
  const isBuilt = args.length === 0 && ranges.length > 0;
  if (given === 0 || (given !== args.length && !isBuilt))
    throw new WritError('USAGE', {
      message: `expected one \`--patch\` or \`--range\` for each spec, found ${args.length} specs and ${given} changes`,
      detail: { command: 'queue add', expected: args.length, found: given },
      hints: [
        'without a spec, writ builds it for the commits of a range: `writ queue add --range main..fix`',
      ],
    });
  if (!isBuilt && options.values('check').length > 0)
    throw new WritError('USAGE', { message: '`--check` is for a spec that writ builds, not for SPEC' });
  await using engine = await openEngine(context, { ephemeralKey: true });
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const specOf = async (index: number): Promise<Uint8Array> => {
    const file = args[index];
    if (file !== undefined) return (await readSpecFile(context, file)).bytes;
    const change = await rangeChange(repository, ranges[index] ?? '', options.value('onto'));
    const about = { command: 'queue add', asksNoOne: false } as const;
    return (await buildSpec(context, engine, repository, change, about)).specBytes;
  };
  const changes: QueuedChange[] = [];
  for (let index = 0; index < given; index += 1) {
    const change = { patch: patches[index], range: ranges[index] };
    changes.push(await readChange(context, engine, await specOf(index), change));
  }
  const added = new Set((await addEntries(repository, changes)).map(({ number }) => number));
  const shown = await showQueue(context.stores, repository, { clock: systemClock });
  const result = listed(shown.filter(({ number }) => added.has(number)));
  const human = (printer: Printer): void => {
    result.human(printer);
    printer.line(styled('dim', '  next  '), 'writ queue run');
  };
  return { ...result, human };
}

/** Resolves a change once: target, base and commits of a range are ids from here on. */
async function readChange(
  context: CommandContext,
  engine: WritEngine,
  specBytes: Uint8Array,
  { patch, range = '' }: { readonly patch: string | undefined; readonly range: string | undefined },
): Promise<QueuedChange> {
  const { options, repoPath, cwd } = context;
  const contract = await readContract(engine, specBytes);
  const repository = await openStatedRepository({ repositoryPath: repoPath ?? cwd }, contract);
  await requireActive(
    await openRunStore(engine.slots.store, repository, systemClock, contract.effective),
    contract,
  );
  const bytes =
    patch === undefined ? undefined : await readInput(context, patch, { maxBytes: maxQueuedBytes });
  const source =
    bytes === undefined ? ({ kind: 'range', range } as const) : ({ kind: 'patch', bytes } as const);
  const origin = await resolveOrigin(repository, { source }, contract);
  const { metadata, intent } = contract.effective;
  const onto = options.value('onto');
  const target = await planTarget(repository, {
    ...(onto === undefined ? {} : { onto }),
    baseRef: metadata.target.baseRef,
    baseCommit: origin.base.commit,
    runId: metadata.id,
  });
  if (origin.base.commit === undefined || target.expected === undefined)
    throw new WritError('REF_NOT_FOUND', {
      message: `the merge queue lands on a branch that exists, and \`${printable(shortBranch(target.ref))}\` does not`,
      detail: { ref: target.ref },
      hints: ['name the branch: `--onto BRANCH`'],
    });
  const message = options.value('message');
  const author = options.value('author');
  requireNoSecret({ message, author });
  return {
    target: target.ref,
    specId: metadata.id,
    summary: intent.summary,
    specBytes,
    from: origin.base.commit,
    ...(origin.range === undefined ? {} : { tip: origin.range.tip }),
    ...(bytes === undefined ? {} : { patch: bytes }),
    ...(message === undefined ? {} : { message }),
    ...(author === undefined ? {} : { author }),
  };
}

/** The queue keeps them as they are, until the change is evaluated. USAGE. */
function requireNoSecret(given: Readonly<Record<'message' | 'author', string | undefined>>): void {
  const option = (['message', 'author'] as const).find((one) =>
    wordsHoldSecret(given[one], one === 'author'),
  );
  if (option !== undefined)
    throw new WritError('USAGE', {
      message: `\`--${option}\` contains a secret`,
      detail: { option: `--${option}`, command: 'queue add' },
      hints: ['remove the secret, and revoke it: the history of the shell may hold it'],
    });
}

/** `writ queue run`: exit 0 if all landed, 1 if changes were removed, 4 if some wait, 128 if some cannot start. */
export async function queueRunCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const pass = await work(context, repository);
  const result = listed(await showQueue(context.stores, repository, { clock: systemClock }));
  const error = pass && refusalOf(pass);
  return error === undefined ? result : refused(error, result.data ?? {}, result.human);
}

function refusalOf({ stuck, removed, waiting }: QueuePass): WritError | undefined {
  const [first] = stuck;
  if (first !== undefined) return stuckFault(first);
  const entries = (of: readonly QueueEntry[]): string =>
    `${of.length === 1 ? 'entry' : 'entries'} ${of.map(({ number }) => number).join(', ')}`;
  if (removed.length > 0)
    return new WritError('QUEUE_REMOVED', {
      message: `${entries(removed)} were removed from the merge queue and did not land`,
    });
  if (waiting.length > 0)
    return new WritError('DECISION_WAITING', {
      message: `${entries(waiting)} of the merge queue wait for approval`,
      hints: [
        '`writ approve RUN`, then `writ queue run`',
        ...waiting
          .filter(({ holds }) => holds)
          .map(
            ({ number }) =>
              `the approvals of entry ${number} lapsed too often, so the changes behind it wait; to let them pass: \`writ queue remove ${number}\``,
          ),
      ],
    });
  return undefined;
}

/** The queue has no `--local-changes`: an entry is the change as it was added. */
function stuckFault({ entry: { number }, fault }: QueuePass['stuck'][number]): WritError {
  const { code, message, detail, hints } = fault;
  const ways = code === 'WORKTREE_DIRTY' ? ['commit or stash those paths, then `writ queue run`'] : hints;
  const leave = `take entry ${number} out of the merge queue: \`writ queue remove ${number}\``;
  return new WritError(code, { message, detail, hints: [...ways, leave], cause: fault });
}

/** `writ queue`, `writ queue show`: what is in the queue, and what became of the entries before. */
export async function queueShowCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  return listed(await showQueue(context.stores, repository, { clock: systemClock }));
}

/**
 * `writ queue remove ENTRY`: first the entry is marked as removed, which a process at work on the queue looks at before
 * it seals; then its run is ended. QUEUE_NO_ENTRY, also if its commit landed before that.
 */
export async function queueRemoveCommand(context: CommandContext): Promise<CommandResult> {
  const wanted = context.args[0] ?? '';
  if (!/^[1-9]\d{0,8}$/.test(wanted))
    throw new WritError('USAGE', {
      message: `expected the number of an entry, found \`${printable(wanted)}\``,
      hints: ['list the entries with `writ queue show`'],
    });
  const number = Number(wanted);
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const show = async (): Promise<ShownEntry | undefined> =>
    (await showQueue(context.stores, repository, { clock: systemClock })).find(
      (entry) => entry.number === number,
    );
  const before = await show();
  if (before?.removed !== undefined) throw noEntry(number, 'was removed before');
  const reason = { code: 'QUEUE_REMOVED', message: 'removed with `writ queue remove`' };
  const marked = await removeEntry(repository, number, reason);
  const landed = marked.landed ?? (await endRun(context, repository, marked));
  if (landed !== undefined) {
    const { removed: _, ...entry } = marked;
    await writeEntry(repository, { ...entry, landed });
    throw noEntry(number, `has landed as ${landed}`);
  }
  const now = await show();
  return listed(now === undefined ? [] : [now]);
}

/** Ends the run of a removed entry. Returns the commit of a run that was sealed before that. RUN_BUSY. */
async function endRun(
  context: CommandContext,
  repository: Repository,
  { run }: QueueEntry,
): Promise<string | undefined> {
  if (run === undefined) return undefined;
  try {
    await cancelRun({
      ...context,
      run,
      reason: 'removed from the merge queue',
      async withEngine(end) {
        await using engine = await openEngine(context, { ephemeralKey: true });
        return await end(engine);
      },
    });
    return undefined;
  } catch (fault) {
    // It has not begun, and does not seal then; or it has ended; or it is damaged, and no process works on it.
    if (!isWritError(fault) || (await isRunHeld(runDirectory(repository, run)))) throw fault;
    const ended = await openRun(context, run).catch(() => undefined);
    const { type, commitSha } = ended?.view.decision ?? {};
    return type === 'commit' ? commitSha : undefined;
  }
}

/** `writ run SPEC --queue`: adds one change and works on the queue until that one has ended or waits. */
export async function runThroughQueue(context: CommandContext): Promise<CommandResult> {
  const { args, options, print } = context;
  const foreign = ['request', 'provider', 'recording', 'external-agent', 'policy', 'local-changes'].find(
    (name) => options.value(name) !== undefined,
  );
  const flag = ['no-seal', 'no-merge', 'yes', 'push'].find((name) => options.flag(name));
  const other = foreign ?? flag ?? (options.values('approve-with').length > 0 ? 'approve-with' : undefined);
  if (other !== undefined)
    throw new WritError('USAGE', {
      message: `\`--queue\` and \`--${other}\` cannot be combined: an entry is a change that exists, evaluated later`,
    });
  if (args[0] === undefined) throw new WritError('USAGE', { message: 'argument SPEC is missing' });
  if ((options.value('patch') === undefined) === (options.value('range') === undefined))
    throw new WritError('USAGE', { message: '`--queue` needs `--patch FILE` or `--range A..B`' });
  await using engine = await openEngine(context, { ephemeralKey: true });
  const given = { patch: options.value('patch'), range: options.value('range') };
  const { bytes } = await readSpecFile(context, args[0]);
  const change = await readChange(context, engine, bytes, given);
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const [{ number } = { number: 0 }] = await addEntries(repository, [change]);
  print.note(`entry ${number} of the merge queue of ${change.target}`);
  const find = (): QueueEntry | undefined => readEntry(repository, number);
  const pass = await work(context, repository, {
    last: number,
    isOver: async () => hasEnded(find() ?? { removed: { code: '', message: '' } }),
  });
  const stuck = pass?.stuck.find(({ entry }) => entry.number === number);
  if (stuck !== undefined) throw stuckFault(stuck);
  const entry = find();
  const view = entry?.run === undefined ? undefined : await openRun(context, entry.run).catch(unlessMissing);
  if (view !== undefined) return await finishRun(context, view.view);
  throw new WritError('QUEUE_REMOVED', {
    message: entry?.removed?.message ?? 'the entry is no longer in the merge queue',
    detail: { entry: number, code: entry?.removed?.code ?? null },
  });
}

function unlessMissing(fault: unknown): undefined {
  if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
  throw fault;
}

const lookEveryMs = 200;

/** Works on the queue once no other process does; `undefined` if another process made that unnecessary. */
async function work(
  context: CommandContext,
  repository: Repository,
  { last, isOver }: { readonly last?: number; readonly isOver?: () => Promise<boolean> } = {},
): Promise<QueuePass | undefined> {
  const { options, print, signal, env } = context;
  let isTold = false;
  for (;;) {
    if (await isOver?.()) return undefined;
    try {
      const lock = await lockQueue(repository);
      try {
        return await pass();
      } finally {
        await lock.release();
      }
    } catch (fault) {
      if (!isWritError(fault, 'QUEUE_BUSY')) throw fault;
      if (!isTold) print.note(`${fault.message}: waiting for it`);
      isTold = true;
      await systemClock.sleep(lookEveryMs, signal);
    }
  }

  async function pass(): Promise<QueuePass> {
    const reaching = await openReaching(context, { records: false });
    const pluginAccess = openPluginAccess(context, reaching);
    await using engine = await openEngine(context, { ephemeralKey: options.flag('ephemeral-key') });
    const result = await workQueue({
      engine,
      repository,
      ...(last === undefined ? {} : { last }),
      settings: {
        sandbox: options.value('sandbox') ?? 'auto',
        localChanges: 'stop',
        schedulerVersion: readVersion(),
        pluginAccess,
        witness: userJournalWitness(env),
        reach: reaching.reach,
        secrets: reaching.secrets,
        clock: systemClock,
        signal,
      },
      async approvalsOf(view) {
        const { waiting } = (await withLandingState(context, view)).view;
        return waiting ?? { needed: 1, people: [] };
      },
      note: ({ number, summary }, what) => print.note(`${number}  ${printable(summary)}: ${what}`),
    });
    reaching.finish();
    return result;
  }
}

function listed(entries: readonly ShownEntry[]): CommandResult {
  const data = toShape(queueSchema, { entries: entries.map(toData) });
  return succeeded(data, (printer) => printEntries(printer, entries));
}

function toData({
  number,
  position,
  target,
  specId,
  summary,
  state,
  tree,
  run,
  landed,
  removed,
}: ShownEntry) {
  return {
    number,
    position: position ?? null,
    state,
    target,
    specId,
    summary,
    ...(run === undefined ? {} : { runId: run }),
    ...(tree === undefined ? {} : { tree }),
    ...(landed === undefined ? {} : { commit: landed }),
    ...(removed === undefined ? {} : { reason: removed }),
  };
}

const tones = {
  waiting: 'dim',
  evaluating: 'bold',
  'waits-for-approval': 'yellow',
  landed: 'green',
  removed: 'red',
} as const;

function printEntries(printer: Printer, entries: readonly ShownEntry[]): void {
  if (entries.length === 0) printer.line('the merge queue is empty');
  printer.table(
    entries.map((entry) => [
      String(entry.number),
      shortBranch(entry.target),
      styled(tones[entry.state], wordsOf(entry)),
      entry.summary,
    ]),
  );
  if (printer.quiet) return;
  for (const { number, removed, run } of entries) {
    if (removed === undefined) continue;
    printer.line(`  ${number}  ${printable(removed.message)}`);
    if (run !== undefined && removed.code === 'DECISION_ABANDON') printer.line(`     writ show ${run}`);
  }
}

function wordsOf({ state, position, tree = '', run = '', landed = '', holds }: ShownEntry): string {
  if (state === 'landed') return `landed ${landed.slice(0, 12)}`;
  if (state === 'removed') return 'removed';
  if (state === 'evaluating') return `${position}. evaluating on ${tree.slice(0, 12)}, run ${run}`;
  if (state === 'waits-for-approval')
    return `${position}. waits for approval, run ${run}${holds ? '; the changes behind it wait for it' : ''}`;
  return `${position}. waiting`;
}
