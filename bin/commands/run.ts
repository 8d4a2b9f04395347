/* The `writ run` command. */
import { resolve } from 'node:path';
import { readVersion } from '../../api/build.ts';
import { readSpecFile } from '../../api/intent/read-spec.ts';
import { runRefusal } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import type { EndedRun } from '../../api/run/verdict.ts';
import { type KeyedApprover, openInProcessApprover } from '../../attest/approval/sign-approval.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { runIntent } from '../../engine/run.ts';
import { provenanceMissingCode } from '../../engine/state/policies.ts';
import type { ChangeSource, RunRequest } from '../../engine/state/run-request.ts';
import {
  localChangesGiven,
  promptsLocalChanges,
  readSource,
  runWishes,
  sourceGiven,
} from '../command-parts/change-source.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { draftedRun } from '../command-parts/drafted-run.ts';
import { openEngine, openMcpAccess, openPluginAccess } from '../command-parts/engine.ts';
import { pushChecks, pushSealed } from '../command-parts/push-sealed.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import { printIssue } from '../command-parts/write-output.ts';
import { printRun, printSpec } from '../report/human.ts';
import { styled } from '../terminal/print.ts';
import { reportingPlugins } from '../terminal/run-progress.ts';

/** `writ run F`, `writ run --request TEXT`: the whole chain; exit 0 commit, 1 abandon or rollback, 4 waiting. */
export async function runCommand(context: CommandContext): Promise<CommandResult> {
  const { options, repoPath, cwd, signal, print } = context;
  const spec = requireOneStart(context);
  const given = sourceGiven(context, spec ?? '');
  // Read the spec first: a wrong path must be reported before a missing worker.
  const file = spec === undefined ? undefined : await readSpecFile(context, spec);
  const specBytes = file?.bytes;
  const reaching = await openReaching(context);
  const source = await readSource(context, given, reaching);
  if (source === undefined) throw spec === undefined ? withoutDrafter() : new WritError('NO_WORKER');
  const approvers = await openApprovers(context);
  const pluginAccess = openPluginAccess(context, reaching);
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: reportingPlugins(context),
  });
  if (file?.expanded && !context.json && !print.quiet) printSpec(print, file.expanded);
  const settings = {
    repositoryPath: repoPath ?? cwd,
    ...runWishes(options),
    ...localChangesGiven(options),
    noSeal: options.flag('no-seal'),
    ...pushChecks(context, options.flag('no-seal')),
    ...promptsLocalChanges(context),
    schedulerVersion: readVersion(),
    pluginAccess,
    approvers,
    witness: userJournalWitness(context.env),
    reach: reaching.reach,
    secrets: reaching.secrets,
    search: reaching.search,
    mcp: openMcpAccess(context),
    clock: systemClock,
    signal,
    hear: printIssue(context),
  };
  const start = async (started: Pick<RunRequest, 'specBytes' | 'source'>): Promise<CommandResult> => {
    const view = await runIntent(engine, { ...settings, ...started });
    return await finishRun(context, view, file?.expanded);
  };
  const result =
    specBytes === undefined
      ? await draftedRun(context, engine, { ...settings, source: drafter(source) }, start)
      : await start({ specBytes, source });
  reaching.finish();
  return result;
}

/**
 * What a command does with its run: with `--push` it pushes what was sealed, with `--ci` it reports to the CI system.
 * `document`: the whole spec, where that is not the text that the user gave.
 */
export async function finishRun(
  context: CommandContext,
  evaluated: RunView,
  document?: IntentSpec,
): Promise<CommandResult> {
  const time = context.progress.time.spent();
  const pushed = await pushSealed(context, evaluated);
  // Of a refused run `writ ci` pushes nothing: a runner of CI takes its record along.
  const isLost = context.options.flag('ci') && ['abandon', 'rollback'].includes(pushed.decision?.type ?? '');
  const view: EndedRun = { ...pushed, isLost, ...(time === undefined ? {} : { time }) };
  await tellCi(context, view);
  const result = toResult(view, context.print);
  if (document === undefined) return result;
  const data = result.data as { readonly spec: object };
  return { ...result, data: { ...data, spec: { ...data.spec, document } } };
}

/** With `--ci`, reports the run to the CI system. */
async function tellCi({ options, cwd, env, print }: CommandContext, view: EndedRun): Promise<void> {
  if (!options.flag('ci')) return;
  const { reportToCi } = await import('../report/ci.ts');
  const directory = await reportToCi(view, { cwd, env, log: (line) => print.complain(line) });
  print.note(`reports: ${directory}`);
}

/** Returns the worker that drafts a spec. An existing change cannot draft one. */
function drafter(source: ChangeSource): Extract<ChangeSource, { readonly kind: 'worker' }> {
  if (source.kind === 'worker') return source;
  throw withoutDrafter();
}

function withoutDrafter(): WritError {
  return new WritError('USAGE', {
    message: '`--request` needs `--provider`: a model drafts the spec and makes the change',
    hints: ['for example `--provider openai`; `writ doctor` lists the providers that have a key here'],
  });
}

/** Returns the spec's file; `undefined` if a request replaces it. USAGE for both and for neither. */
function requireOneStart({ args: [spec], options }: CommandContext): string | undefined {
  const request = options.value('request');
  if (spec !== undefined && request !== undefined)
    throw new WritError('USAGE', { message: 'SPEC and `--request` cannot be combined. Pass one of them' });
  if (spec === undefined && request === undefined)
    throw new WritError('USAGE', {
      message: 'argument SPEC is missing',
      detail: { command: 'run', expected: ['SPEC', '--request'], found: null },
      hints: ['`writ run --help` shows the arguments'],
    });
  if (request !== undefined && options.value('external-agent') !== undefined)
    throw new WritError('USAGE', {
      message: 'an external agent drafts no spec: expected SPEC, found `--request`',
    });
  if (request !== undefined && options.flag('no-seal'))
    throw new WritError('USAGE', {
      message:
        '`--no-seal` and `--request` cannot be combined: `--no-seal` only evaluates a change that exists',
    });
  if (request === undefined && options.flag('yes'))
    throw new WritError('USAGE', {
      message: '`--yes` needs `--request`: it confirms the spec that a model drafts',
    });
  return spec;
}

/**
 * Opens the keys that approve in this process once the run waits. They are opened first, so that an unusable key
 * stops the run before any work.
 */
async function openApprovers({ options, cwd, print }: CommandContext): Promise<readonly KeyedApprover[]> {
  const approvers: KeyedApprover[] = [];
  for (const file of options.values('approve-with'))
    approvers.push(await openInProcessApprover(resolve(cwd, file)));
  for (const { keyId } of approvers)
    print.note(
      `approving in this process with ${keyId}: it counts only where \`[approvals] in_process\` is \`true\` at the policy commit`,
    );
  return approvers;
}

/**
 * Converts a decided run to a command result, with the same data if accepted or refused. A missing proof of a sealed
 * change is also reported on stderr, even under `--json` and `--quiet`, because the exit code does not show it.
 */
export function toResult(view: EndedRun, print: CommandContext['print']): CommandResult {
  const data = toRunData(view);
  for (const { code, message } of data.warnings ?? [])
    if (code === provenanceMissingCode) print.complain(styled('yellow', 'warning'), `: ${message}`);
  const refusal = runRefusal(view);
  const isHinted = refusal !== undefined && refusal.hints.length > 0;
  const human = (printer: CommandContext['print']): void =>
    printRun(printer, view, isHinted ? 'hinted' : undefined);
  return refusal ? refused(refusal, data, human) : succeeded(data, human);
}
