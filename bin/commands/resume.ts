import { workerOf } from '../../agent/plugin.ts';
import { readVersion } from '../../api/build.ts';
import { readInput } from '../../api/read-input.ts';
import { openRun } from '../../api/run/open-run.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type KeptDraft, readDraft } from '../../engine/draft/stored-draft.ts';
import { findWaitingDraft } from '../../engine/draft/waiting-drafts.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { ResumeRequest } from '../../engine/state/run-request.ts';
import { recordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { localChangesGiven, promptsLocalChanges } from '../command-parts/change-source.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { resumeDraft } from '../command-parts/drafted-run.ts';
import { openEngine, openMcpAccess, openPluginAccess } from '../command-parts/engine.ts';
import { readModelChoice, refuseChoice } from '../command-parts/providers.ts';
import { pushChecks, requirePushOf } from '../command-parts/push-sealed.ts';
import { openReaching, type Reaching } from '../command-parts/reach-provider.ts';
import { printIssue } from '../command-parts/write-output.ts';
import { reportingPlugins } from '../terminal/run-progress.ts';
import { finishRun } from './run.ts';

/** `writ resume RUN`: goes on after a kill or a wait; exit codes as for `writ run`. */
export async function resumeCommand(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  const onto = options.value('onto');
  const sandbox = options.value('sandbox');
  const more = readUnits(options.value('more-cost-units'));
  const reaching = await openReaching(context);
  const worker = workerGiven(context, reaching);
  const pluginAccess = openPluginAccess(context, reaching);
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: reportingPlugins(context),
  });
  const repositoryPath = repoPath ?? cwd;
  const settings = {
    repositoryPath,
    ...localChangesGiven(options),
    ...promptsLocalChanges(context),
    schedulerVersion: readVersion(),
    pluginAccess,
    witness: userJournalWitness(context.env),
    reach: reaching.reach,
    secrets: reaching.secrets,
    search: reaching.search,
    mcp: openMcpAccess(context),
    clock: systemClock,
    signal,
  };
  const draft = await draftOf(context, engine, repositoryPath);
  if (draft) {
    const result = await resumeDraft(context, engine, repositoryPath, draft, async (confirmed) => {
      const request = { ...settings, ...pushChecks(context), sandbox: sandbox ?? 'auto', ...confirmed };
      return finishRun(context, await runIntent(engine, { ...request, hear: printIssue(context) }));
    });
    reaching.finish();
    return result;
  }
  const before = await openRun(context, args[0] ?? '');
  if (before.view.state !== 'decided') await requirePushOf(context, before);
  // Nothing is left to do: what became of its commit since then is said as `writ show` says it.
  const view =
    before.view.state === 'decided'
      ? before.view
      : await resumeRun(engine, {
          ...settings,
          runId: args[0] ?? '',
          worker,
          ...(onto === undefined ? {} : { onto }),
          ...(sandbox === undefined ? {} : { sandbox }),
          ...(more === undefined ? {} : { moreCostUnits: more }),
          ...(options.flag('repeat-calls') ? { allowLostCalls: true } : {}),
        });
  reaching.finish();
  return await finishRun(context, view);
}

/** Returns the worker given on the command line, else the run's original worker. USAGE, PROVIDER_OPTION. */
function workerGiven(context: CommandContext, { variable }: Reaching): NonNullable<ResumeRequest['worker']> {
  const { options } = context;
  const recording = options.value('recording');
  const provider = options.value('provider');
  if (recording !== undefined && provider !== undefined)
    throw new WritError('USAGE', {
      message: '`--recording` and `--provider` cannot be combined: one worker continues the run',
    });
  if (provider !== undefined) {
    const from = readModelChoice(context, provider, variable);
    return { name: workerOf(provider), from: async () => from };
  }
  refuseChoice(context, recording === undefined ? [] : ['record']);
  return recording === undefined
    ? { name: recordedWorker }
    : { name: recordedWorker, from: () => readInput(context, recording, { maxBytes: 64 * 1024 * 1024 }) };
}

/** The draft that is meant, where no run of it has begun. */
async function draftOf(
  { args: [wanted = ''] }: CommandContext,
  engine: WritEngine,
  repositoryPath: string,
): Promise<KeptDraft | undefined> {
  const repository = await openRepository(repositoryPath);
  const id = await findWaitingDraft(engine.slots.store, repository, systemClock, wanted);
  return id === undefined ? undefined : readDraft(repository, id);
}

function readUnits(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units = Number(text);
  if (/^[1-9]\d{0,8}$/.test(text)) return units;
  throw new WritError('USAGE', {
    message: `expected \`--more-cost-units\` to be a whole number from 1, found \`${text}\``,
  });
}
