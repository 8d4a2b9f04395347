import { toCount } from '../../screen/words/to-count.ts';
import type { Seen } from '../seen.ts';
import { costWords } from './cost-words.ts';

export type BarFact = readonly [name: string, value: string, tone?: string];
type Members = Readonly<Record<string, unknown>>;

/** What was used, as far as the session says: how full the context is, tokens, cost. */
export function usageWords(usage: Seen['usage']): readonly BarFact[] {
  if (usage === undefined) return [];
  const { inputTokens, outputTokens, costUsd, unpriced, contextTokens, contextWindow } = usage;
  const percent =
    contextTokens === undefined || contextWindow === undefined || contextWindow === 0
      ? undefined
      : Math.round((100 * contextTokens) / contextWindow);
  const cost = costUsd === undefined ? [] : [costWords(costUsd)];
  return [
    ...(percent === undefined ? [] : [['context', `${percent} %`, percent >= 80 ? 'warn' : ''] as const]),
    ['tokens', toCount(inputTokens + outputTokens)],
    ['cost', [...cost, ...(unpriced === undefined ? [] : ['some unpriced'])].join(', ') || 'unpriced'],
  ];
}

/** What is allowed, and what confines it. */
export function settingWords({ settings, interactions }: Seen, { sandbox }: Members): readonly BarFact[] {
  const plan = interactions.findLast(({ kind }) => kind === 'post_plan_choice');
  const network = settings?.networkAccess ?? plan?.metadata.networkAccess ?? 'deny';
  const { backend, enforced } = (sandbox ?? {}) as { backend?: string; enforced?: readonly string[] };
  const isConfined = backend !== undefined && backend !== 'none' && (enforced?.length ?? 0) > 0;
  return [
    ...(typeof settings?.context === 'string' ? [['context of work', settings.context] as const] : []),
    ['network', network === 'allow' ? 'allow' : 'deny', network === 'allow' ? 'warn' : ''],
    ...(backend === undefined
      ? []
      : [
          [
            'sandbox',
            isConfined ? backend : 'none: every command is asked about',
            isConfined ? '' : 'bad',
          ] as const,
        ]),
  ];
}
