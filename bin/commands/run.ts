import { resolve } from 'node:path';
import { type KeyedApprover, openInProcessApprover } from '../../attest/approval/in-process-approver.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { runIntent } from '../../engine/run/run-intent.ts';
import type { ChangeSource } from '../../engine/run/run-request.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command.ts';
import { openEngine } from '../open-engine.ts';
import { userPluginAccess } from '../plugin/user-plugins.ts';
import { readInput } from '../read-input.ts';
import { readSpecBytes } from '../read-spec.ts';
import { openRecording } from '../recording.ts';
import { printRun } from '../report/human.ts';
import { toRunData } from '../report/run-data.ts';
import { toVerdict } from '../report/verdict.ts';
import { progressPlugin } from '../run-progress.ts';
import { serviceProgressPlugin } from '../service-progress.ts';
import { readVersion } from '../version.ts';

/** Bytes of a patch that is read at all. */
const maxPatchBytes = 256 * 1024 * 1024;

/** `writ run F`: the whole chain; exit 0 commit, 1 abandon or rollback, 4 waiting. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  const [spec = ''] = args;
  const source = await readSource(context, spec);
  const [onto, message, author, policy] = ['onto', 'message', 'author', 'policy'].map((name) =>
    options.value(name),
  );
  const specBytes = await readSpecBytes(context, spec);
  const approvers = await openApprovers(context);
  const pluginAccess = userPluginAccess(context.env, options.values('plugin'));
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: [progressPlugin(context.progress), serviceProgressPlugin(repoPath ?? cwd)],
  });
  const view = await runIntent(engine, {
    repositoryPath: repoPath ?? cwd,
    specBytes,
    source,
    ...(onto === undefined ? {} : { onto }),
    ...(message === undefined ? {} : { message }),
    ...(author === undefined ? {} : { author }),
    ...(policy === undefined ? {} : { policy }),
    noMerge: options.flag('no-merge'),
    sandbox: options.value('sandbox') ?? 'auto',
    schedulerVersion: readVersion(),
    pluginAccess,
    approvers,
    witness: userJournalWitness(context.env),
    clock: systemClock,
    signal,
  });
  return toResult(view);
}

/** Whoever approves as soon as the run waits; opened first, so that a key that cannot sign stops the run before any work. */
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

/** A decided run as a command's result: the same data whether it was accepted or refused. */
export function toResult(view: RunView): CommandResult {
  const data = toRunData(view);
  const human = (printer: CommandContext['print']): void => printRun(printer, view);
  const type = view.decision?.type;
  if (type === 'commit') return succeeded(data, human);
  if (type === undefined) return refused(undecided(view), data, human);
  const code =
    type === 'rollback'
      ? 'DECISION_ROLLBACK'
      : type === 'checkpoint'
        ? 'DECISION_WAITING'
        : 'DECISION_ABANDON';
  return refused(
    new WritError(code, {
      message: toVerdict(view).sentence,
      detail: { run_id: view.runId },
      ...(view.waiting?.for === 'budget'
        ? { hints: [`grant more with \`writ resume ${view.runId} --more-cost-units N\``] }
        : {}),
    }),
    data,
    human,
  );
}

/** The run went as far as it could, and yet its record says nothing of it: that is damage, not an answer. */
function undecided({ runId, state }: RunView): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the record of run \`${runId}\` is incomplete: it holds no decision and nothing to wait with`,
    detail: { run_id: runId, state },
  });
}

async function readSource(context: CommandContext, spec: string): Promise<ChangeSource> {
  const given = ['patch', 'range', 'recording'].filter((name) => context.options.value(name) !== undefined);
  const [kind] = given;
  if (given.length > 1) {
    const named = given.map((name) => `\`--${name}\``).join(' and ');
    throw new WritError('USAGE', { message: `expected one source of the change, found ${named}` });
  }
  const value = kind === undefined ? '' : (context.options.value(kind) ?? '');
  if (kind === 'range') return { kind, range: value };
  if (kind === undefined) throw new WritError('NO_WORKER');
  if (value === '-' && spec === '-')
    throw new WritError('USAGE', { message: `the spec and the ${kind} cannot both come from stdin` });
  const bytes = await readInput(context, value, { maxBytes: maxPatchBytes });
  return kind === 'recording'
    ? { kind: 'worker', worker: openRecording(bytes), keep: bytes }
    : { kind: 'patch', bytes };
}
