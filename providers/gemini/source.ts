import type { ProviderSource } from '../../core/contract/provider.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { geminiFormat } from './gemini-format.ts';

/** Google's Gemini over generateContent (not the Interactions API, which is a beta). */
export const gemini: ProviderSource = {
  title: 'Gemini',
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  base: 'https://generativelanguage.googleapis.com/v1beta',
  // The second is what the vendor's own command line reads.
  baseVariables: ['GEMINI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
  defaultModel: 'gemini-4-argon',
  flags: [],
  open: (setting) => wireProvider(geminiFormat(setting), setting),
};
