import { toRfc3339 } from '../../../../core/base/clock.ts';
import { sha256Hex } from '../../../../core/base/digest.ts';
import { isWritError } from '../../../../core/base/errors.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { HandAnswer, Hands, HandUse } from '../../../../core/contract/hands.ts';
import type { CheckNetwork } from '../../../../core/contract/network-use.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import { redactHosts } from '../../judge/check-network.ts';
import { joinNetworks } from '../../record/join-networks.ts';
import type { UsedHand } from '../../record/used-hand.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import { cutText } from './cut-text.ts';
import { executeInWorkspace } from './execute-in-workspace.ts';
import type { HandPlace } from './hand-place.ts';
import { type JudgedUse, judgeUse } from './judge-use.ts';
import { keptUse } from './kept-use.ts';
import { searchWorkspace } from './search-workspace.ts';
import { useFiles } from './use-files.ts';
import type { WriteWatch } from './watch-writes.ts';

/** The hands of one attempt, and what they did. */
export interface OpenHands extends Hands {
  readonly used: readonly UsedHand[];
  /** What the commands had of the network; absent where none was opened to them. */
  network(): CheckNetwork | undefined;
}

/** Uses that one attempt may make: beyond, it goes round in circles. */
export const maxUses = 5000;
/** The workspace of an attempt as its worker gets it; uses wait for each other. */
export function openHands(run: OpenRun, place: HandPlace, watch: WriteWatch): OpenHands {
  const used: UsedHand[] = [];
  const networks: CheckNetwork[] = [];
  const policy = policyOf(run);
  const mask = (text: string): string => redactTexts(text, policy);
  const { hooks, clock } = run.means.engine;
  const use = async (wanted: HandUse): Promise<HandAnswer> => {
    run.means.signal.throwIfAborted();
    if (used.length >= maxUses)
      return { outcome: 'denied', text: `denied: an attempt may use its tools ${maxUses} times` };
    const started = clock.monotonic();
    const startedAt = toRfc3339(run.means.settings.clock.now());
    const judged = judgeUse(run, place, wanted);
    const { request } = judged;
    const settle = async (answer: HandAnswer, refusal?: Finding): Promise<HandAnswer> => {
      const durationMs = Math.round(clock.monotonic() - started);
      const { outcome, exitCode } = answer;
      // Masked first: half a secret is known by nobody.
      const text = cutText(mask(answer.text), judged.maxResultBytes);
      used.push({
        ...keptUse(request, wanted, mask),
        outcome,
        ...(refusal === undefined ? {} : { refusal: refusal.rule }),
        ...(exitCode === undefined ? {} : { exitCode }),
        durationMs,
        startedAt,
        resultDigest: sha256Hex(text),
      });
      await hooks.tool.settled.call({
        request,
        outcome,
        ...(refusal === undefined ? {} : { refusal }),
        ...(exitCode === undefined ? {} : { exitCode }),
        durationMs,
      });
      return { ...answer, text };
    };
    const deny = (finding: Finding) =>
      settle({ outcome: 'denied', text: `denied: ${finding.message}` }, finding);
    const refusal = judged.refusal ?? (await hooks.tool.guard.call(request));
    if (refusal) return deny(refusal);
    await hooks.tool.started.call(request);
    return settle(await act(run, place, wanted, judged, { watch, mask, networks }));
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    used,
    network: () => redactHosts(joinNetworks(networks), policy),
    use(wanted) {
      const next = last.then(() => use(wanted));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

interface Means {
  readonly watch: WriteWatch;
  readonly mask: (text: string) => string;
  readonly networks: CheckNetwork[];
}

async function act(
  run: OpenRun,
  place: HandPlace,
  wanted: HandUse,
  judged: JudgedUse,
  { watch, mask, networks }: Means,
): Promise<HandAnswer> {
  if (wanted.kind === 'execute')
    return watch.around(judged.acl ?? {}, () =>
      executeInWorkspace(run, place, wanted, judged, (network) => networks.push(network)),
    );
  try {
    if (wanted.kind === 'search') return await searchWorkspace(run, place, wanted, judged);
    if (wanted.kind === 'write' || wanted.kind === 'delete') watch.forget();
    return await useFiles(place.workspace, wanted, judged, mask);
  } catch (fault) {
    // The file system's own words name the place of the workspace on this machine.
    const code = (fault as NodeJS.ErrnoException).code;
    if (isWritError(fault) || code === undefined) throw fault;
    return { outcome: 'failed', text: `failed: ${code}` };
  }
}
