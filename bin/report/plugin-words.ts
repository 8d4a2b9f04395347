import type { AttestedPlugin } from '../../core/contract/attestor.ts';

/** What a plugin of others brought and was given, in one line. */
export function pluginWords({ brings, given }: Pick<AttestedPlugin, 'brings' | 'given'>): string {
  return [brings.join(', '), given.join(', ')].filter((words) => words !== '').join('; ');
}
