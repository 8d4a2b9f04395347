import { isWritError } from '../../../../core/base/errors.ts';
import type { HandAnswer, Hands, HandUse } from '../../../../core/contract/hands.ts';
import type { CheckNetwork } from '../../../../core/contract/network-use.ts';
import { allowRules } from '../../../tool/acl/matching-rules.ts';
import { redactHosts } from '../../judge/check-network.ts';
import { joinNetworks } from '../../record/join-networks.ts';
import type { UsedTool } from '../../record/used-tool.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import type { OpenCode } from '../lsp/open-code.ts';
import { type Leaving, openDoor } from '../tools/open-tools.ts';
import { type AttemptTools, usualBound } from '../tools/tool-setting.ts';
import { answerVcs } from '../vcs/answer-vcs.ts';
import type { SeenHistory } from '../vcs/see-history.ts';
import { changeOf } from './change-of.ts';
import { executeInWorkspace } from './execute-in-workspace.ts';
import type { HandPlace } from './hand-place.ts';
import { type JudgedUse, judgeUse } from './judge-use.ts';
import { searchWorkspace } from './search-workspace.ts';
import { useFiles } from './use-files.ts';
import type { WriteWatch } from './watch-writes.ts';

/** The hands of one attempt, and what they did. */
export interface OpenHands extends Hands {
  readonly used: readonly UsedTool[];
  /** What the commands had of the network; absent where none was opened to them. */
  network(): CheckNetwork | undefined;
}

/** The workspace of an attempt as its worker gets it; uses wait for each other. */
export function openHands(
  run: OpenRun,
  place: HandPlace,
  { watch, history, code }: Pick<Means, 'watch' | 'history' | 'code'>,
  tools: AttemptTools,
): OpenHands {
  const networks: CheckNetwork[] = [];
  const door = openDoor(tools, usualBound);
  const means = { watch, history, code, mask: tools.mask, networks };
  const { allow } = run.identity.contract.effective.security.toolAcl;
  return {
    seesHistory: allowRules(allow, 'vcs', 'read').length > 0,
    used: door.used,
    network: () => redactHosts(joinNetworks(networks), policyOf(run)),
    use: (wanted) =>
      door.use(
        () => {
          const judged = judgeUse(run, place, wanted);
          return { ...judged, change: () => changeOf(place.workspace, wanted, judged) };
        },
        (judged, leaving) => act(run, place, wanted, judged, { ...means, leaving }),
      ),
  };
}

interface Means {
  readonly history: SeenHistory;
  readonly watch: WriteWatch;
  readonly code: OpenCode;
  readonly mask: (text: string) => string;
  readonly networks: CheckNetwork[];
  readonly leaving: Leaving;
}

async function act(
  run: OpenRun,
  place: HandPlace,
  wanted: HandUse,
  judged: JudgedUse,
  { watch, history, code, mask, networks, leaving }: Means,
): Promise<HandAnswer> {
  if (wanted.kind === 'execute') {
    code.touch();
    return watch.around(judged.acl ?? {}, () =>
      executeInWorkspace(run, place, wanted, judged, { leaving, told: (network) => networks.push(network) }),
    );
  }
  try {
    if (wanted.kind === 'vcs') return await askVcs(run, history, judged);
    if (wanted.kind === 'search') return await searchWorkspace(run, place, wanted, judged);
    if (wanted.kind === 'code') {
      const { real, shows = () => true } = judged;
      return await code.ask(wanted, { real, shows });
    }
    if (wanted.kind === 'write' || wanted.kind === 'delete') {
      watch.forget();
      code.touch();
    }
    return await useFiles(place.workspace, wanted, judged, mask);
  } catch (fault) {
    // The file system's own words name the place of the workspace on this machine.
    const code = (fault as NodeJS.ErrnoException).code;
    if (isWritError(fault) || code === undefined) throw fault;
    return { outcome: 'failed', text: `failed: ${code}` };
  }
}

/** Longest time of one question to version control, ms. */
const vcsTimeoutMs = 60_000;

async function askVcs(
  { means: { signal } }: OpenRun,
  history: SeenHistory,
  { question, shows = () => false }: JudgedUse,
): Promise<HandAnswer> {
  if (question === undefined) throw new TypeError('a question that was allowed and not read');
  const late = AbortSignal.timeout(vcsTimeoutMs);
  try {
    return await answerVcs(history, question, { shows, signal: AbortSignal.any([signal, late]) });
  } catch (fault) {
    signal.throwIfAborted();
    if (!late.aborted) throw fault;
    return { outcome: 'failed', text: `failed: no answer within ${vcsTimeoutMs / 1000} s; name a path` };
  }
}
