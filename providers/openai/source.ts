import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/quoted.ts';
import type { ProviderSetting, ProviderSource } from '../../core/contract/provider.ts';
import { chatFormat } from '../wire/chat/chat-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { chatDialect } from './chat-dialect.ts';
import { responsesFormat } from './responses-format.ts';

/**
 * OpenAI, and whatever speaks its chat dialect at another base. `flags.dialect` (`[providers.openai] dialect`) is
 * `responses` or `chat`.
 */
export const openai: ProviderSource = {
  title: 'OpenAI',
  keys: ['OPENAI_API_KEY'],
  // Servers of one's own often want none.
  keyless: (base) => base !== openai.base,
  base: 'https://api.openai.com/v1',
  baseVariables: ['OPENAI_BASE_URL'],
  defaultModel: 'gpt-6.1-sol',
  flags: [],
  settings: { dialect: ['responses', 'chat'] },
  open: (setting) =>
    wireProvider(
      dialectOf(setting) === 'chat' ? chatFormat(chatDialect, setting) : responsesFormat(setting),
      setting,
    ),
};

/** OpenAI's own server refuses tools in the chat dialect; other servers know little else. */
function dialectOf({ isOtherBase, flags }: ProviderSetting): 'chat' | 'responses' {
  const { dialect } = flags;
  if (dialect === undefined) return isOtherBase ? 'chat' : 'responses';
  if (dialect === 'chat' || dialect === 'responses') return dialect;
  throw new WritError('PROVIDER_OPTION', {
    message: `\`[providers.openai] dialect\`: expected \`responses\` or \`chat\`, found ${quoted(dialect)}`,
    detail: { flag: 'dialect', provider: 'openai', expected: ['responses', 'chat'], found: dialect },
  });
}
