import { readInput } from '../../api/read-input.ts';
import { userPluginAccess } from '../../api/user-plugins.ts';
import { readVersion } from '../../api/version.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { workerOf } from '../../coder/plugin.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { resumeRun } from '../../engine/run/run-intent.ts';
import type { ResumeRequest } from '../../engine/run/state/run-request.ts';
import { recordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { readModelChoice, refuseChoice } from '../command-parts/model-choice.ts';
import { openEngine } from '../command-parts/open-engine.ts';
import { openReaching, type Reaching } from '../command-parts/reach-provider.ts';
import { progressPlugin } from '../terminal/run-progress.ts';
import { serviceProgressPlugin } from '../terminal/service-progress.ts';
import { toResult } from './run.ts';

/** `writ resume RUN`: goes on after a kill or a wait; exit codes as for `writ run`. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  const onto = options.value('onto');
  const more = readUnits(options.value('more-cost-units'));
  const reaching = await openReaching(context);
  const worker = workerGiven(context, reaching);
  const pluginAccess = userPluginAccess(context.env, options.values('plugin'));
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: [progressPlugin(context.progress), serviceProgressPlugin(repoPath ?? cwd)],
  });
  const view = await resumeRun(engine, {
    repositoryPath: repoPath ?? cwd,
    runId: args[0] ?? '',
    sandbox: options.value('sandbox') ?? 'auto',
    schedulerVersion: readVersion(),
    pluginAccess,
    worker,
    ...(onto === undefined ? {} : { onto }),
    ...(more === undefined ? {} : { moreCostUnits: more }),
    witness: userJournalWitness(context.env),
    reach: reaching.reach,
    search: reaching.search,
    clock: systemClock,
    signal,
  });
  reaching.finish();
  return toResult(view, context.print);
}

/** Who goes on: as typed, else whoever the run was started with. USAGE, PROVIDER_OPTION. */
function workerGiven(context: CommandContext, { variable }: Reaching): NonNullable<ResumeRequest['worker']> {
  const { options } = context;
  const recording = options.value('recording');
  const provider = options.value('provider');
  if (recording !== undefined && provider !== undefined)
    throw new WritError('USAGE', {
      message: 'expected one who goes on, found `--recording` and `--provider`',
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

function readUnits(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units = Number(text);
  if (/^[1-9]\d{0,8}$/.test(text)) return units;
  throw new WritError('USAGE', {
    message: `expected \`--more-cost-units\` to be a whole number from 1, found \`${text}\``,
  });
}
