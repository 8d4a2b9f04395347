/* The `writ seal` command: a change that exists, through a spec that is built on the spot. */
import { readVersion } from '../../api/build.ts';
import { continueIntent } from '../../api/intent/lifecycle.ts';
import { projectInTree, readProposedCheck, targetIn } from '../../api/intent/read-project.ts';
import { invalidWords } from '../../api/intent/read-spec.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import { printable } from '../../core/base/printable.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { sealingFormsOf } from '../../engine/config/sections.ts';
import {
  demandsAlike,
  lastCommit,
  type RecordedSpec,
  rangeChange,
  readRiskPolicy,
  recordedSpec,
  removeRunLine,
  type SealableChange,
  type SealWords,
  sealSpec,
  specsOfRewritten,
  stagedChange,
} from '../../engine/draft/seal-request.ts';
import { toCheck } from '../../engine/draft/spec-from-words.ts';
import { runIntent } from '../../engine/run.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { higherRisk } from '../../spec/profile.ts';
import type { ProposedCheck } from '../../spec/propose-check.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { chooseRisk } from '../command-parts/choose-risk.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { openEngine, openPluginAccess } from '../command-parts/engine.ts';
import { pushChecks } from '../command-parts/push-sealed.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import { printIssue } from '../command-parts/write-output.ts';
import { printSpec } from '../report/human.ts';
import { type LineReader, openLines } from '../terminal/open-output.ts';
import { styled } from '../terminal/print.ts';
import { reportingPlugins } from '../terminal/run-progress.ts';
import { finishRun } from './run.ts';

/** `writ seal`: the index, the last commit or a range as the candidate of a run; exit codes as `writ run`. */
export async function sealCommand(context: CommandContext): Promise<CommandResult> {
  const { options, repoPath, cwd, signal } = context;
  const repositoryPath = repoPath ?? cwd;
  const reaching = await openReaching(context, { records: false });
  const pluginAccess = openPluginAccess(context, reaching);
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: reportingPlugins(context),
  });
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(repositoryPath));
  const isLastCommit = options.flag('commit');
  const change = await changeGiven(context, repository);
  const { spec, specBytes } = await chooseSpec(context, engine, repository, change);
  const given = messageGiven(context);
  const view = await runIntent(engine, {
    repositoryPath,
    repository,
    specBytes,
    source: change.source,
    onto: change.branch,
    ...(isLastCommit ? { replaces: true } : {}),
    ...(given === '' ? {} : { message: given }),
    noSeal: options.flag('no-seal'),
    ...pushChecks(context, options.flag('no-seal')),
    sandbox: options.value('sandbox') ?? 'auto',
    localChanges: 'stop',
    schedulerVersion: readVersion(),
    pluginAccess,
    witness: userJournalWitness(context.env),
    reach: reaching.reach,
    secrets: reaching.secrets,
    clock: systemClock,
    signal,
    hear: printIssue(context),
  }).catch((fault: unknown) => {
    throw withoutLocalChanges(fault);
  });
  reaching.finish();
  return await finishRun(context, view, spec);
}

/** The command has no `--local-changes`: the change is what is committed or staged. */
function withoutLocalChanges(fault: unknown): unknown {
  if (!isWritError(fault, 'WORKTREE_DIRTY')) return fault;
  const { code, message, detail } = fault;
  const hints = ['commit or stash those files, then run the command again'];
  return new WritError(code, { message, detail, hints, cause: fault });
}

/** The index, or what the options name instead. USAGE. */
async function changeGiven(
  { options, env }: CommandContext,
  repository: Repository,
): Promise<SealableChange> {
  const [range, onto] = [options.value('range'), options.value('onto')];
  if (range !== undefined && options.flag('commit'))
    throw new WritError('USAGE', {
      message: '`--commit` and `--range` cannot be combined. Pass one of them',
    });
  if (range === undefined && onto !== undefined)
    throw new WritError('USAGE', {
      message: '`--onto` needs `--range`: it names the branch that receives the range',
    });
  if (range !== undefined) return await rangeChange(repository, range, onto);
  if (options.flag('commit')) return await lastCommit(repository);
  return await stagedChange(repository, env.GIT_INDEX_FILE);
}

/**
 * The spec that is built for the change, or that of the run `--by`. A commit that an earlier run sealed, and that was
 * rewritten since, gets no spec that demands something else. USAGE, RUN_NOT_FOUND, INTENTSPEC_INVALID.
 */
async function chooseSpec(
  context: CommandContext,
  engine: WritEngine,
  repository: Repository,
  change: SealableChange,
): ReturnType<typeof buildSpec> {
  const { options, print, json } = context;
  const by = options.value('by');
  if (by !== undefined) {
    const isGiven = options.values('check').length > 0 || options.value('risk') !== undefined;
    if (!options.flag('commit') || isGiven)
      throw new WritError('USAGE', {
        message:
          '`--by` needs `--commit`, and cannot be combined with `--check` and `--risk`: the spec of the named run decides both',
      });
    const recorded = await recordedSpec(context.stores, repository, by, change);
    const { runId, document, bytes } = recorded;
    await requireGenuine(context, recorded);
    const policy = await readRiskPolicy(repository, change, await sealingFormsOf(engine.slots));
    const { leastRisk, securityPath } = policy;
    const { level } = document.risk;
    // Whoever wrote the spec need not have seen this change: it is named by a line of the commit.
    if (securityPath !== undefined && level === 'low')
      print.complain(
        styled('yellow', 'warning'),
        `  \`${printable(securityPath)}\` is security code, and the spec of run ${runId} has risk low`,
      );
    if (higherRisk(level, leastRisk) !== level)
      throw new WritError('USAGE', {
        message: `the spec of run ${runId} has risk ${level}, and \`[seal] least_risk\` of the policy commit is ${leastRisk}`,
        hints: [
          'write a spec of that risk, and evaluate the change by it: `writ run SPEC --range HEAD^..HEAD`',
        ],
      });
    print.note(`evaluated by the spec \`${printable(document.metadata.id)}\` of run ${runId}`);
    if (!json && !print.quiet) printSpec(print, document, { paths: change.paths });
    // If that run has landed, its intent is closed: the same change on another branch is an intent of its own.
    const id = uuidV7(systemClock.now());
    const next = await continueIntent(engine, repository.root, bytes, { closedBy: runId, id });
    if (next === undefined) return { spec: document, specBytes: bytes };
    print.note(`the intent of that run is closed: the copy of its spec has the id \`${id}\``);
    return { spec: { ...document, metadata: { ...document.metadata, id } }, specBytes: next.specBytes };
  }
  const recorded = await specsOfRewritten(context.stores, repository, change);
  const about = { command: 'seal', asksNoOne: options.flag('ci') } as const;
  const byRun = (runId: string): string =>
    `evaluate it by the spec of its run: \`writ seal --commit --by ${runId}\``;
  const built = await buildSpec(context, engine, repository, change, about).catch((fault: unknown) => {
    const [first] = recorded;
    if (first === undefined || !isWritError(fault, 'USAGE')) throw fault;
    const { message, detail, hints } = fault;
    throw new WritError('USAGE', { message, detail, hints: [byRun(first.runId), ...hints] });
  });
  const other = recorded.find(({ document }) => !demandsAlike(document, built.spec));
  if (other === undefined) return built;
  const { runId, document } = other;
  throw new WritError('USAGE', {
    message: `the last commit names run ${runId}, whose spec \`${printable(document.metadata.id)}\` demands something else than the spec that writ would build now`,
    detail: { run_id: runId },
    hints: [byRun(runId), removeRunLine],
  });
}

/**
 * OBJECT_CORRUPT or VERIFY_NOTHING unless the record of the run is verified: a person who may push records may have
 * replaced its spec, and a person who may write commits their messages.
 */
async function requireGenuine(context: CommandContext, { runId }: RecordedSpec): Promise<void> {
  const { verifyTargets } = await import('../../api/verify/verify-targets.ts');
  const [found] = await verifyTargets(context, [runId]);
  if (found?.report.verified) return;
  const isRefuted = found?.report.checks.some(({ status }) => status === 'failed') === true;
  throw new WritError(isRefuted ? 'OBJECT_CORRUPT' : 'VERIFY_NOTHING', {
    message: isRefuted
      ? `the record of run \`${runId}\` was changed: verification fails`
      : `no signature of a key that you trust covers the record of run \`${runId}\`, so its spec may be anyone's`,
    detail: { run_id: runId },
    hints: [
      `see what is missing: \`writ verify --run ${runId}\``,
      ...(isRefuted
        ? []
        : [
            'if you trust its signer, put the public key of the signer as a `.pem` file into `~/.config/writ/trust/`, then seal again',
          ]),
      removeRunLine,
    ],
  });
}

/** Builds the spec of a change, asks for what was not given, and shows it. USAGE, INTENTSPEC_INVALID. */
export async function buildSpec(
  context: CommandContext,
  engine: WritEngine,
  repository: Repository,
  change: SealableChange,
  { command, asksNoOne }: { readonly command: 'seal' | 'queue add'; readonly asksNoOne: boolean },
): Promise<{ readonly spec: IntentSpec; readonly specBytes: Uint8Array }> {
  const { print, stdin, signal, json } = context;
  const { root, repo, createdBy } = await targetIn(repository, context);
  const policy = await readRiskPolicy(repository, change, await sealingFormsOf(engine.slots));
  let lines: LineReader | undefined;
  const ask = async (question: string): Promise<string> => {
    lines ??= openLines(stdin, signal);
    print.complain(question);
    return (await lines.next())?.trim() ?? '';
  };
  try {
    const proposed = await proposedFor(context, repository, root, change);
    const { checks, found } = await chooseChecks(context, proposed, ask);
    const risk = await chooseRisk(context, policy, {
      command,
      asks: asksNoOne ? 'never' : 'security-code',
      ...(context.interactive && !asksNoOne ? { ask } : {}),
    });
    const now = systemClock.now();
    const spec = sealSpec(change, {
      id: uuidV7(now),
      createdAt: toRfc3339(now),
      createdBy,
      repo,
      message: messageOf(context, change),
      ...risk,
      checks,
    });
    if (!json && !print.quiet)
      printSpec(print, spec, { paths: change.paths, ...(found === undefined ? {} : { found }) });
    const specBytes = Buffer.from(`${JSON.stringify(spec, null, 2)}\n`);
    requireValid(specBytes);
    return { spec, specBytes };
  } finally {
    lines?.[Symbol.dispose]();
  }
}

function messageGiven({ options }: CommandContext): string {
  return options.values('message').join('\n\n').trim();
}

function messageOf(context: CommandContext, { message = '', paths }: SealableChange): string {
  const given = messageGiven(context);
  if (given !== '') return given;
  if (message !== '') return message;
  const [first = '', ...others] = paths;
  return `Change ${printable(first).slice(0, 200)}${others.length === 0 ? '' : ` and ${others.length} more files`}`;
}

type Ask = (question: string) => Promise<string>;

/**
 * The project's tests as they are at the base: a change does not choose what checks it. Of the person's own change,
 * where the base has none, those of the working tree.
 */
async function proposedFor(
  { options }: CommandContext,
  repository: Repository,
  root: string,
  { base }: SealableChange,
): Promise<ProposedCheck | undefined> {
  if (options.values('check').length > 0) return undefined;
  const known = await readProposedCheck(root, projectInTree(repository, base.tree));
  return known !== undefined || options.value('range') !== undefined ? known : readProposedCheck(root);
}

/** The checks that were given; else the project's tests, confirmed once where a person can be asked. USAGE. */
async function chooseChecks(
  { options, interactive }: CommandContext,
  proposed: ProposedCheck | undefined,
  ask: Ask,
): Promise<Pick<SealWords, 'checks'> & { readonly found?: string }> {
  const given = options.values('check');
  if (given.length > 0) return { checks: given.map(toCheck) };
  if (interactive) {
    const typed = await ask(
      proposed === undefined
        ? 'which command tests the change? (no file at the root of the project says it)'
        : `check the change with \`${proposed.command}\`, from ${proposed.found}? Enter accepts; or type another command`,
    );
    if (typed !== '') return { checks: [toCheck(typed)] };
  }
  if (proposed !== undefined) return { checks: [proposed], found: proposed.found };
  throw new WritError('USAGE', {
    message: 'writ found no test command: no file at the root of the project says how its tests run',
    detail: { command: 'seal', expected: ['--check'], found: null },
    hints: ['name the command that tests the change, for example `writ seal --check "make test"`'],
  });
}

/** The words of a message can make the spec invalid. USAGE, INTENTSPEC_INVALID. */
function requireValid(bytes: Uint8Array): void {
  const read = readIntentSpec(bytes);
  if (!read.ok)
    throw invalidWords(read.issues, {
      summary: 'the first line of the message',
      hints: ['say in one line what the change does: `writ seal -m "…"`'],
    });
}
