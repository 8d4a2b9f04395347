import { WritError } from '../../../core/base/errors.ts';
import type { AgentHost } from '../../../core/interfaces/worker.ts';
import { redactTexts } from '../../../readers/sensitive/redact.ts';
import { wayAddress } from '../../../workspace/egress/open-egress.ts';
import { maxMemoryBytes } from '../../state/machine.ts';
import type { OpenAgent, OpenModel } from '../../state/open-model.ts';
import { type OpenRun, policyOf } from '../../state/open-run.ts';
import { handEnvironment } from '../hands/hand-environment.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import type { AttemptTools } from '../tools/tool-setting.ts';
import { fenceNote, type TurnsTaken } from '../turns/open-turns.ts';
import { openAgentJudge } from './judge-agent-use.ts';
import { gateRoot, openModelGate } from './model-gate.ts';
import { openAgentStarter } from './start-agent.ts';

/** A program's host for one attempt, and what came of it. */
export interface OpenAgentHost extends AgentHost {
  taken(): TurnsTaken;
  /** Ends what still runs, and closes the way to the model. */
  close(): Promise<void>;
}

/** Of what is kept with the record. */
const [maxNotes, maxNote] = [20, 8000];
/** Opens the way of one attempt to an agent. SANDBOX_NONE_REFUSED: what works by itself is not let loose. */
export async function openAgentHost(
  run: OpenRun,
  place: HandPlace,
  chosen: OpenModel & { readonly agent: OpenAgent },
  tools: AttemptTools,
): Promise<OpenAgentHost> {
  const { agent, model, provider } = chosen;
  const { sandbox, config } = run.ground;
  if (sandbox.unconfined) throw new WritError('SANDBOX_NONE_REFUSED');
  const gate = await openModelGate(run, chosen, { spend: tools.calls.spend, task: tools.task });
  const judge = openAgentJudge(run, place, tools);
  const notes: string[] = [];
  const policy = policyOf(run);
  const { promptInjection } = run.identity.contract.effective.security;

  const starter = openAgentStarter({
    sandbox,
    place,
    agent,
    provider: provider.name,
    env: handEnvironment(run, place),
    network: gate.network,
    maxMemoryBytes: maxMemoryBytes(config),
    signal: run.means.signal,
  });

  return {
    model,
    modelBase: `${wayAddress}${gateRoot}`,
    workspace: sandbox.pathsInside(place).workspace,
    flags: agent.flags,
    notes: promptInjection.treatRetrievedContentAsUntrusted ? [fenceNote] : [],
    start: starter.start,
    judge: judge.judge,
    note: (text) => void (notes.length < maxNotes && notes.push(redactTexts(text.slice(0, maxNote), policy))),
    isAsking: gate.isAsking,
    failure: gate.failure,
    taken: () => ({ ...gate.taken(), notices: [...(chosen.notices ?? []), ...notes] }),
    async close() {
      await starter[Symbol.asyncDispose]();
      await gate.close();
    },
  };
}
