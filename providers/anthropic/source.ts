import type { ProviderSource } from '../../core/contract/provider.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { anthropicFormat } from './anthropic-format.ts';

/** Anthropic's Messages API, and whatever speaks it at another base. */
export const anthropic: ProviderSource = {
  title: 'Anthropic',
  keys: ['ANTHROPIC_API_KEY'],
  base: 'https://api.anthropic.com',
  baseVariables: ['ANTHROPIC_BASE_URL'],
  defaultModel: 'claude-opus-5-5',
  flags: [],
  open: (setting) => wireProvider(anthropicFormat(setting), setting),
};
