import { formatModelChoice } from '../../../agent/instructions.ts';
import { coderWorker } from '../../../agent/plugin.ts';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { type OpenSession, openSession, type SessionSetting } from '../../../session/open-session.ts';
import type { Interaction } from '../../../session/state/interaction.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { watchRuns } from '../../../session/work/watch-runs.ts';
import { answeringModel, type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import type { Asked, ModelServer } from '../../providers/model-server.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';

/** A session over the sample's repository, with a model that answers from its script. */
export interface ScriptedSession extends AsyncDisposable {
  readonly sample: Sample;
  readonly model: ModelServer;
  readonly session: OpenSession;
  say(text: string): Promise<void>;
  /** The question that is asked next. */
  asked<Kind extends Interaction['kind']>(kind: Kind): Promise<Extract<Interaction, { readonly kind: Kind }>>;
  answer(id: string, given: Parameters<typeof answerCommand>[1]): Promise<void>;
  ended(): Promise<void>;
}

const local = { from: 'local' } as const;

function answerCommand(
  id: string,
  given: Extract<Parameters<OpenSession['channel']['send']>[0], { type: 'respond' }>['given'],
) {
  return { type: 'respond', id, given, proof: local } as const;
}

type SceneSetting = Partial<SessionSetting> & { readonly userDirectory?: string };

/** What a session of the sample is opened with; the engine is closed by whoever opens it. */
export async function settingOf(
  sample: Sample,
  model: Pick<ModelServer, 'base'>,
  { userDirectory, ...more }: SceneSetting = {},
): Promise<SessionSetting> {
  const watcher = watchRuns(systemClock);
  const engine = await sample.engine([watcher.plugin]);
  const witness = userJournalWitness(sample.env);
  return {
    engine,
    watcher,
    witness,
    repositoryPath: sample.root,
    target: async () => ({
      repo: { type: 'local', locator: sample.root },
      baseRef: 'main',
      createdBy: { type: 'user', id: 'somebody@example.org' },
    }),
    sandbox: 'auto',
    modelFor: ({ context, model: id = 'scripted' }) => ({
      source: {
        kind: 'worker',
        worker: coderWorker,
        from: formatModelChoice({ provider: 'openai', model: id, apiBase: model.base, flags: {} }),
      },
      instructions: [`Answer questions about this repository, for ${context}.`],
    }),
    clock: systemClock,
    env: sample.env,
    run: {
      schedulerVersion: '0.0.0',
      witness,
      reach: reachProvider({ variable: () => undefined, keys: {} }),
      userDirectory,
    },
    approval: {
      policy: 'on-request',
      ttlSeconds: 300,
      grants: keepGrants(systemClock),
      mask: (text) => text,
    },
    selfTest: { result: async () => ({ isTried: true, reached: [] }) },
    ground: { ...ground(), workingDir: sample.root },
    ...more,
  };
}

export async function scriptSession(
  replies: readonly ScriptedReply[] | ((asked: Asked) => ScriptedReply),
  more: SceneSetting = {},
  sample = makeSample(),
): Promise<ScriptedSession> {
  const model = await (typeof replies === 'function' ? answeringModel(replies) : scriptModel(replies));
  return sessionWith(model, more, sample);
}

/** The same with a model that is served already; closed with the session. */
export async function sessionWith(
  model: ModelServer,
  more: SceneSetting = {},
  sample = makeSample(),
): Promise<ScriptedSession> {
  const setting = await settingOf(sample, model, more);
  const session = await openSession(setting);
  const { channel } = session;
  return {
    sample,
    model,
    session,
    say: async (text) => void (await channel.send({ type: 'submit', text, proof: local })),
    async asked<Kind extends Interaction['kind']>(kind: Kind) {
      type Asked = Extract<Interaction, { readonly kind: Kind }>;
      let found: Asked | undefined;
      await until(() => {
        const { state } = channel;
        if (state.turn === undefined) throw new Error(`the turn is over: ${lastNote(session)}`);
        found = pendingOf(state).find((one): one is Asked => one.kind === kind);
        return found !== undefined;
      });
      return found as unknown as Asked;
    },
    answer: async (id, given) => void (await channel.send(answerCommand(id, given))),
    ended: () => until(() => channel.state.turn === undefined),
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      await setting.engine[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      sample.remove();
    },
  };
}

export function lastNote({ channel }: OpenSession): string {
  return channel.state.transcript.findLast(({ kind }) => kind === 'info_note')?.content ?? '';
}
