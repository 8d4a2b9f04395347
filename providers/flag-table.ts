import type { FlagTable } from './check-flags.ts';
import { codexFlags } from './codex/codex-flags.ts';
import { deepseekFlags } from './deepseek/deepseek-flags.ts';
import { kimiFlags } from './kimi/kimi-flags.ts';
import { ollamaFlags } from './ollama/ollama-flags.ts';

/**
 * The flags of every built-in provider that has any, as data: help and refusals of one provider's flags load no
 * provider.
 */
export const flagTable: FlagTable = {
  codex: codexFlags,
  deepseek: deepseekFlags,
  kimi: kimiFlags,
  ollama: ollamaFlags,
};
