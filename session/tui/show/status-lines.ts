/* The command `/status`. */
import { rowsOf, wordOf, wordsOf } from '../../screen/asked.ts';
import { type Line, span, visible } from '../../screen/line.ts';
import { costWords, progressWords, tokenWords, usdWords } from '../../screen/usage-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';

type Fact = readonly [name: string, value: string];

const nameColumns = 14;

/** Model, cost, settings, controller and sandbox, one fact in a line. */
export function statusLines(
  snapshot: Snapshot,
  diagnostics: Readonly<Record<string, unknown>>,
): readonly Line[] {
  const { provider, settings, threadId, workingDir, controller } = snapshot;
  const { pid } = diagnostics;
  const [key] = rowsOf([diagnostics.key]);
  const [sandbox] = rowsOf([diagnostics.sandbox]);
  const [ports] = rowsOf([diagnostics.ports]);
  const [logFile, lastError] = [wordOf(diagnostics.logFile), wordOf(diagnostics.lastError)];
  const isOurs = controller.kind === 'tui' || controller.kind === 'cli';
  const facts: readonly (Fact | undefined | false)[] = [
    ['model', provider.model === undefined ? provider.provider : `${provider.model} of ${provider.provider}`],
    key && ['key', `${wordOf(key.name)} from ${wordOf(key.source)}`],
    ...costFacts(snapshot),
    ['for', settings.context === 'dev' ? 'development (dev)' : `${settings.context}: it only reads`],
    settings.networkAccess !== undefined && ['network', `${settings.networkAccess}, for plans from now on`],
    ['review', settings.review === 'on' ? 'on: changes are held until you have reviewed them' : 'off'],
    ['directory', workingDir],
    ['thread', threadId],
    ['steered by', isOurs ? 'you' : `${controller.kind} ${controller.ownerLabel ?? ''}`.trim()],
    ['may steer', ['you', ...wordsOf(diagnostics.attachable)].join(', ')],
    ...(sandbox === undefined ? [] : sandboxFacts(sandbox)),
    ports && [
      'served on',
      `port ${ports.web}${typeof ports.mcp === 'number' ? `, MCP on port ${ports.mcp}` : ''}`,
    ],
    logFile !== '' && ['log', logFile],
    lastError !== '' && ['last failure', lastError],
    typeof pid === 'number' && ['process', `${pid}`],
  ];
  return facts
    .filter((one) => one !== undefined && one !== false)
    .map(([name, value]): Line => [span(`  ${name.padEnd(nameColumns)}`, 'dim'), span(visible(value))]);
}

type Members = Readonly<Record<string, unknown>>;

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

function sandboxFacts(sandbox: Members): readonly Fact[] {
  const enforced = wordsOf(sandbox.enforced);
  const backend = wordOf(sandbox.backend);
  const selfApproval: Readonly<Record<string, string>> = {
    possible: 'YES: a command could reach what approves it',
    impossible: 'no, it was tried',
  };
  const confines = `${backend}${enforced.length === 0 ? '' : `: ${enforced.join(', ')}`}`;
  return [
    ['sandbox', backend === 'none' ? 'NONE: nothing confines commands' : confines],
    ['self-approval', selfApproval[wordOf(sandbox.selfApproval)] ?? 'not tried yet'],
  ];
}
