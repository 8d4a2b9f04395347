import type { SessionUsage, StepCost, Used } from '../state/usage.ts';
import { type Span, span, type Tone } from './line.ts';

/** Shares from which on somebody should look, and from which on it is nearly over. */
const [warnAt, badAt] = [0.8, 0.95];

/**
 * What a session used, as short items of a status line: `ctx 34%`, `45.2k tok`, `$0.12 of $2.00`. None where no model
 * was asked and no limit is set.
 */
export function usageItems(usage: SessionUsage | undefined): readonly Span[] {
  if (usage === undefined) return [];
  const { contextTokens, contextWindow, inputTokens, outputTokens } = usage;
  const tokens = inputTokens + outputTokens;
  return [
    ...(contextTokens === undefined ? [] : [contextItem(contextTokens, contextWindow)]),
    ...(tokens === 0 ? [] : [span(`${tokenWords(tokens)} tok`)]),
    costItem(usage),
  ];
}

function contextItem(tokens: number, window: number | undefined): Span {
  if (window === undefined || window <= 0) return span(`ctx ${tokenWords(tokens)}`);
  const share = tokens / window;
  // What is little is not nothing.
  const percent = share > 0 && share < 0.005 ? '<1' : `${Math.round(100 * share)}`;
  return span(`ctx ${percent}%`, toneOf(share));
}

function costItem(usage: SessionUsage): Span {
  const { limitUsd } = usage;
  if (limitUsd === undefined) return span(costWords(usage));
  const share = limitUsd > 0 ? (usage.costUsd ?? 0) / limitUsd : 1;
  return span(`${costWords(usage)} of ${usdWords(limitUsd)}`, toneOf(share));
}

function toneOf(share: number): Tone {
  return share >= badAt ? 'bad' : share >= warnAt ? 'warn' : 'plain';
}

/** A cost, and whether there is more of which nobody knows the price: `$0.12`, `$0.12 + unpriced`, `unpriced`. */
export function costWords({ costUsd, unpriced }: Pick<Used, 'costUsd' | 'unpriced'>): string {
  if (unpriced !== true) return usdWords(costUsd ?? 0);
  return costUsd === undefined ? 'unpriced' : `${usdWords(costUsd)} + unpriced`;
}

/**
 * What a step of a plan is expected to cost, and what it came to: `estimated 12k tokens, $0.03 · actual 14k, $0.04`.
 * Empty where neither is known.
 */
export function estimateWords(
  estimated: Omit<StepCost, 'line'> | undefined,
  actual?: Omit<StepCost, 'line'>,
): string {
  const words: string[] = [];
  if (estimated !== undefined)
    words.push(`estimated ${tokenWords(estimated.tokens)} tokens${priced(estimated)}`);
  if (actual !== undefined)
    words.push(
      `actual ${tokenWords(actual.tokens)}${estimated === undefined ? ' tokens' : ''}${priced(actual)}`,
    );
  return words.join(' · ');
}

function priced({ costUsd }: Pick<StepCost, 'costUsd'>): string {
  return costUsd === undefined ? '' : `, ${usdWords(costUsd)}`;
}

const steps = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
] as const;

/** A count in at most five characters up to a billion: `950`, `45.2k`, `1.2M`. */
export function tokenWords(tokens: number): string {
  // What would be rounded up to a thousand is one of the next step.
  const step = steps.find(([, size]) => tokens >= 0.9995 * size && tokens >= 1000);
  if (step === undefined) return `${Math.round(tokens)}`;
  const [unit, size] = step;
  const value = tokens / size;
  return `${value >= 99.95 ? Math.round(value) : Math.round(10 * value) / 10}${unit}`;
}

/** Dollars and cents; of less than a cent that it is less. */
export function usdWords(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return `$${usd.toFixed(2)}`;
}
