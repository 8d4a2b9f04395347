import type { Seen } from '../seen.ts';

export type BarFact = readonly [name: string, value: string, tone?: string];
type Members = Readonly<Record<string, unknown>>;

/** What is allowed, and what confines it. */
export function settingWords({ settings, interactions }: Seen, { sandbox }: Members): readonly BarFact[] {
  const plan = interactions.findLast(({ kind }) => kind === 'post_plan_choice');
  const network = settings?.networkAccess ?? plan?.metadata.networkAccess ?? 'deny';
  const { backend, enforced } = (sandbox ?? {}) as { backend?: string; enforced?: readonly string[] };
  const isConfined = backend !== undefined && backend !== 'none' && (enforced?.length ?? 0) > 0;
  return [
    ...(typeof settings?.context === 'string' ? [['context', settings.context] as const] : []),
    ['network', network === 'allow' ? 'allow' : 'deny', network === 'allow' ? 'warn' : ''],
    ...(settings?.review === 'on' ? [['changes', 'held for review'] as const] : []),
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
