import { type Line, span } from '../../screen/line.ts';
import { rowsOf, wordOf, wordsOf } from '../../screen/question/asked.ts';
import { costWords, tokenWords, usdWords } from '../../screen/usage-words.ts';
import { visible } from '../../screen/visible.ts';
import { progressWords } from '../../screen/words/goal-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';

type Fact = readonly [name: string, value: string];

/** How things are, for a person who asks: what it cost and may cost, what is open to whom, what confines commands. */
export function statusLines(
  snapshot: Snapshot,
  diagnostics: Readonly<Record<string, unknown>>,
): readonly Line[] {
  const facts: readonly Fact[] = [
    ...modelFacts(snapshot, diagnostics),
    ...costFacts(snapshot),
    ...settingFacts(snapshot),
    ...groundFacts(snapshot, diagnostics),
  ];
  return facts.map(
    ([name, value]): Line => [span(`  ${name.padEnd(nameColumns)}`, 'dim'), span(visible(value))],
  );
}

const nameColumns = 14;

function modelFacts({ provider }: Snapshot, { key }: Readonly<Record<string, unknown>>): readonly Fact[] {
  const [found] = rowsOf([key]);
  return [
    ['model', provider.model === undefined ? provider.provider : `${provider.model} of ${provider.provider}`],
    ...(found === undefined ? [] : [['key', `${wordOf(found.name)} from ${wordOf(found.source)}`] as const]),
  ];
}

function costFacts({ usage, goal }: Snapshot): readonly Fact[] {
  if (usage === undefined) return [['cost', 'no model was asked yet']];
  const { inputTokens, outputTokens, contextTokens, contextWindow, limitUsd, turn } = usage;
  const limit = limitUsd === undefined ? 'no limit (/budget sets one)' : `of at most ${usdWords(limitUsd)}`;
  const window = contextWindow === undefined ? '' : ` of ${tokenWords(contextWindow)}`;
  return [
    ['cost', `${costWords(usage)} ${limitUsd === undefined ? '· ' : ''}${limit}`],
    ...(turn === undefined ? [] : [['last turn', `${costWords(turn)} · ${tokensOf(turn)}`] as const]),
    ['tokens', tokensOf({ inputTokens, outputTokens })],
    ...(contextTokens === undefined
      ? []
      : [['context used', `${tokenWords(contextTokens)}${window} tokens`] as const]),
    ...(goal === undefined ? [] : [['goal', `${goal.status} · ${progressWords(goal)}`] as const]),
  ];
}

function tokensOf({
  inputTokens,
  outputTokens,
}: Pick<NonNullable<Snapshot['usage']>, 'inputTokens' | 'outputTokens'>): string {
  return `${tokenWords(inputTokens)} read, ${tokenWords(outputTokens)} written`;
}

function settingFacts({ settings }: Snapshot): readonly Fact[] {
  return [
    ['for', settings.context === 'dev' ? 'development (dev)' : `${settings.context}: it only reads`],
    ...(settings.networkAccess === undefined
      ? []
      : [['network', `${settings.networkAccess}, for plans from now on`] as const]),
    ['review', settings.review === 'on' ? 'on: changes are held until you have reviewed them' : 'off'],
  ];
}

function groundFacts(
  { threadId, workingDir, controller }: Snapshot,
  { sandbox, ports, attachable, logFile, lastError, pid }: Readonly<Record<string, unknown>>,
): readonly Fact[] {
  const [confined, numbers] = [rowsOf([sandbox])[0], rowsOf([ports])[0]];
  const may = wordsOf(attachable);
  return [
    ['directory', workingDir],
    ['thread', threadId],
    ['steered by', steeredBy(controller)],
    ['may steer', ['you', ...may].join(', ')],
    ...(confined === undefined ? [] : sandboxFacts(confined)),
    ...(numbers === undefined ? [] : [['served on', servedOn(numbers)] as const]),
    ...(wordOf(logFile) === '' ? [] : [['log', wordOf(logFile)] as const]),
    ...(wordOf(lastError) === '' ? [] : [['last failure', wordOf(lastError)] as const]),
    ...(typeof pid === 'number' ? [['process', `${pid}`] as const] : []),
  ];
}

function steeredBy({ kind, ownerLabel = '' }: Snapshot['controller']): string {
  return kind === 'tui' || kind === 'cli' ? 'you' : `${kind} ${ownerLabel}`.trim();
}

function sandboxFacts(sandbox: Readonly<Record<string, unknown>>): readonly Fact[] {
  const enforced = wordsOf(sandbox.enforced);
  const approves: Readonly<Record<string, string>> = {
    possible: 'YES: a command could reach what approves it',
    impossible: 'no, it was tried',
  };
  const backend = wordOf(sandbox.backend);
  return [
    [
      'sandbox',
      backend === 'none'
        ? 'NONE: nothing confines commands'
        : `${backend}${enforced.length === 0 ? '' : `: ${enforced.join(', ')}`}`,
    ],
    ['self-approval', approves[wordOf(sandbox.selfApproval)] ?? 'not tried yet'],
  ];
}

function servedOn({ web, mcp }: Readonly<Record<string, unknown>>): string {
  return [`port ${web}`, ...(typeof mcp === 'number' ? [`MCP on port ${mcp}`] : [])].join(', ');
}
