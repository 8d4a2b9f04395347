import type { PrivacyPolicy } from '../../core/contract/privacy-policy.ts';
import { markOf } from './redaction.ts';
import { findRegions } from './regions.ts';

/** Plain data with every text in it redacted; keys and everything else stay. */
export function redactTexts<T>(value: T, policy: Pick<PrivacyPolicy, 'remove' | 'words'>): T {
  if (policy.remove.length === 0) return value;
  const search = { classes: new Set(policy.remove), words: policy.words };
  return map(value, (text) => {
    const bytes = Buffer.from(text);
    const regions = findRegions(bytes, search);
    if (regions.length === 0) return text;
    let shown = '';
    let from = 0;
    for (const region of regions) {
      shown += bytes.toString('utf8', from, region.start) + markOf(region);
      from = region.end;
    }
    return shown + bytes.toString('utf8', from);
  }) as T;
}

function map(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, change)]));
}

/** Nothing that short is a secret. */
const minLength = 20;

/** A path as it may be written down: a name is written wherever the file is, so a token in it is taken out. */
export function maskPath(path: string): string {
  return path.length < minLength ? path : redactTexts(path, { remove: ['secrets'], words: {} });
}
