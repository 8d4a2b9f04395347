/* The provider `codex`. */
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { ModelUsage } from '../../core/interfaces/model.ts';
import type { Provider, ProviderSource } from '../../core/interfaces/provider.ts';
import { flagTable } from '../flags.ts';
import { costUnits, knownModel } from '../model-table.ts';
import { openaiFailure, responsesUsage } from '../openai/source.ts';
import { type Json, partsOf } from '../wire/wire-format.ts';

/** Items with the results of its tools. */
const outputs = /_output$/;

/**
 * Codex: a program with its own tools that calls a model of OpenAI. It gets no key, and the user's sign-in is not
 * used: the engine sends its model requests.
 */
export const codex: ProviderSource = {
  title: 'Codex',
  keys: ['OPENAI_API_KEY'],
  // Servers of one's own often want none.
  keyless: (base) => base !== codex.base,
  base: 'https://api.openai.com/v1',
  baseVariables: ['OPENAI_BASE_URL'],
  defaultModel: 'gpt-6.1-sol',
  flags: flagTable.codex,
  agent: {
    program: {
      name: 'codex',
      flag: 'codex-bin',
      hint: 'install it: `npm install --global @openai/codex`',
    },
    marker: 'codex-package.json',
    natives: {
      'linux-x64': '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
      'linux-arm64': '@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex',
    },
    path: '/responses',
    prepare: (question, change) => ({
      ...question,
      ...('input' in question && Array.isArray(question.input)
        ? { input: question.input.map((item) => withOutput(partsOf(item), change)) }
        : {}),
    }),
    usageOf(event) {
      const { type, response } = partsOf(event);
      return type === 'response.completed' || type === 'response.incomplete'
        ? (responsesUsage(partsOf(partsOf(response).usage)) ?? nothingTold)
        : undefined;
    },
    failureOf(status, body) {
      if (status !== undefined) return openaiFailure(status, body);
      const { type, response } = partsOf(body);
      if (type === 'response.failed') return openaiFailure(undefined, response);
      return type === 'error' ? openaiFailure(undefined, body) : undefined;
    },
  },
  open: ({ flags }) => {
    checkPort(flags);
    return opened;
  },
};

const opened: Provider = {
  name: 'codex',
  costUnits,
  contextTokens: (model) => knownModel(model)?.contextTokens,
  // biome-ignore lint/correctness/useYield: it gives none
  async *ask() {
    throw new WritError('PROVIDER_OPTION', {
      message: '`codex` is an agent program: writ cannot call its model directly',
      detail: { provider: 'codex' },
    });
  },
};

/** One that needs no privilege, and that is known before it listens. */
const ports = { least: 1024, most: 65_535 };

function checkPort(flags: Readonly<Record<string, string>>): void {
  const port = flags['codex-port'];
  if (port === undefined) return;
  if (/^[1-9]\d{3,4}$/.test(port) && Number(port) >= ports.least && Number(port) <= ports.most) return;
  throw new WritError('PROVIDER_OPTION', {
    message: `\`--codex-port\`: expected a port from ${ports.least} to ${ports.most}, found ${quoted(port)}`,
    detail: { flag: 'codex-port', provider: 'codex' },
    hints: ['remove it: writ then talks to the app-server over its stdin and stdout'],
  });
}

const nothingTold: ModelUsage = { input: 0, output: 0 };

function withOutput(item: Json, change: (text: string) => string): Json {
  if (!outputs.test(String(item.type))) return item;
  const { output } = item;
  if (typeof output === 'string') return { ...item, output: change(output) };
  if (!Array.isArray(output)) return item;
  return {
    ...item,
    output: output.map((part) => {
      const { text } = partsOf(part);
      return typeof text === 'string' ? { ...partsOf(part), text: change(text) } : part;
    }),
  };
}
