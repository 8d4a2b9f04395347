/* The command `/status`. */
import { type Line, span, visible } from '../../screen/line.ts';
import type { Diagnostics } from '../../screen/session-door.ts';
import { costWords, progressWords, tokenWords, usdWords } from '../../screen/usage-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';

type Fact = readonly [name: string, value: string];

const nameColumns = 14;

/** Model, cost, settings, controller and sandbox, one fact in a line. */
export function statusLines(snapshot: Snapshot, diagnostics: Partial<Diagnostics>): readonly Line[] {
  const { provider, settings, threadId, workingDir, controller } = snapshot;
  const { pid, key, attachable = [], sandbox, ports, logFile, lastError } = diagnostics;
  const isOurs = controller.kind === 'tui' || controller.kind === 'cli';
  const facts: readonly (Fact | undefined | false)[] = [
    ['model', provider.model === undefined ? provider.provider : `${provider.model} of ${provider.provider}`],
    key && ['key', `${key.name} from ${key.source}`],
    ...costFacts(snapshot),
    ['for', settings.context === 'dev' ? 'development (dev)' : `${settings.context}: it only reads`],
    ['network', `${settings.networkAccess}, for plans from now on`],
    ['review', settings.review === 'on' ? 'on: changes are held until you have reviewed them' : 'off'],
    ['directory', workingDir],
    ['thread', threadId],
    ['steered by', isOurs ? 'you' : `${controller.kind} ${controller.ownerLabel ?? ''}`.trim()],
    ['may steer', ['you', ...attachable].join(', ')],
    ...(sandbox === undefined ? [] : sandboxFacts(sandbox)),
    ports && ['served on', `port ${ports.web}${ports.mcp === undefined ? '' : `, MCP on port ${ports.mcp}`}`],
    logFile !== undefined && ['log', logFile],
    lastError !== undefined && ['last failure', lastError],
    pid !== undefined && ['process', `${pid}`],
  ];
  return facts
    .filter((one) => one !== undefined && one !== false)
    .map(([name, value]): Line => [span(`  ${name.padEnd(nameColumns)}`, 'dim'), span(visible(value))]);
}

function costFacts({ usage, goal }: Snapshot): readonly (Fact | undefined | false)[] {
  if (usage === undefined) return [['cost', 'no model was asked yet']];
  const { contextTokens, contextWindow, limitUsd, turn } = usage;
  const limit = limitUsd === undefined ? '· no limit (/budget sets one)' : `of at most ${usdWords(limitUsd)}`;
  const window = contextWindow === undefined ? '' : ` of ${tokenWords(contextWindow)}`;
  const tokens = (used: Pick<typeof usage, 'inputTokens' | 'outputTokens'>): string =>
    `${tokenWords(used.inputTokens)} read, ${tokenWords(used.outputTokens)} written`;
  return [
    ['cost', `${costWords(usage)} ${limit}`],
    turn && ['last turn', `${costWords(turn)} · ${tokens(turn)}`],
    ['tokens', tokens(usage)],
    contextTokens !== undefined && ['context used', `${tokenWords(contextTokens)}${window} tokens`],
    goal && ['goal', `${goal.status} · ${progressWords(goal)}`],
  ];
}

const selfApprovals = {
  possible: 'YES: a command could reach what approves it',
  impossible: 'no, it was tried',
  not_tried: 'not tried yet',
} as const;

function sandboxFacts({ backend, enforced, selfApproval }: Diagnostics['sandbox']): readonly Fact[] {
  const confines = `${backend}${enforced.length === 0 ? '' : `: ${enforced.join(', ')}`}`;
  return [
    ['sandbox', backend === 'none' ? 'NONE: nothing confines commands' : confines],
    ['self-approval', selfApprovals[selfApproval]],
  ];
}
