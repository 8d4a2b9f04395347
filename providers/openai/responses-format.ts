import { quoted } from '../../core/base/quoted.ts';
import type { ModelRequest, ToolDeclaration } from '../../core/contract/model.ts';
import type { ProviderSetting } from '../../core/contract/provider.ts';
import { temperatureIsFixed } from '../model-table.ts';
import type { Json } from '../wire/json-parts.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { openaiFailure } from './openai-failure.ts';
import { toInput } from './responses-input.ts';
import { responsesReader } from './responses-reader.ts';
import { shortName } from './short-name.ts';

/** Models without reasoning: they refuse to be asked for it. */
const withoutReasoning = /^(?:gpt-[34]|chatgpt-)|-chat\b/;

/**
 * OpenAI's own format (`/responses`). Nothing is stored there: the reasoning of a reply comes encrypted and goes back
 * as it came, before the calls that it led to.
 */
export function responsesFormat({ key }: Pick<ProviderSetting, 'key'>): WireFormat {
  return {
    provider: 'openai',
    toWire: (request) => {
      const { model, system, maxOutputTokens, temperature, cacheKey } = request;
      const noTemperature = temperature !== undefined && temperatureIsFixed(model);
      return {
        path: '/responses',
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        framing: 'events',
        notices: noTemperature
          ? [`\`--temperature\` is left out: the temperature of ${quoted(model)} is fixed`]
          : [],
        body: {
          model,
          ...(system.length === 0 ? {} : { instructions: system.join('\n\n') }),
          input: toInput(request),
          ...toTools(request),
          ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
          ...(temperature === undefined || noTemperature ? {} : { temperature }),
          ...(cacheKey === undefined ? {} : { prompt_cache_key: shortName(cacheKey) }),
          ...(withoutReasoning.test(model) ? {} : { include: ['reasoning.encrypted_content'] }),
          store: false,
          stream: true,
        },
      };
    },
    reader: responsesReader,
    failureOf: openaiFailure,
  };
}

function toTools({ tools }: ModelRequest): Json {
  if (tools.length === 0) return {};
  return {
    // Not strict: a strict tool has to name every property as required.
    tools: tools.map(({ name, description, parameters }: ToolDeclaration) => ({
      type: 'function',
      name,
      description,
      parameters,
      strict: false,
    })),
    parallel_tool_calls: true,
  };
}
