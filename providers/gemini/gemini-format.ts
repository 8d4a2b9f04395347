import type { ModelRequest } from '../../core/contract/model.ts';
import type { ProviderSetting } from '../../core/contract/provider.ts';
import { versioned } from '../wire/versioned.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { geminiFailure } from './gemini-failure.ts';
import { toContents, toInstruction, toTools } from './gemini-messages.ts';
import { geminiReader } from './gemini-reader.ts';
import { geminiFamily } from './model-families.ts';

/** generateContent, as a stream (ai.google.dev/api/generate-content). */
export function geminiFormat({ key, base }: Pick<ProviderSetting, 'key' | 'base'>): WireFormat {
  return {
    provider: 'gemini',
    toWire: (request) => ({
      path: versioned(base, '/v1beta', `/${pathOf(request.model)}:streamGenerateContent?alt=sse`),
      headers: key === undefined ? {} : { 'x-goog-api-key': key },
      framing: 'events',
      body: {
        ...toInstruction(request),
        contents: toContents(request),
        ...toTools(request),
        ...toConfig(request),
      },
    }),
    reader: () => geminiReader(),
    failureOf: geminiFailure,
  };
}

/** `models/<id>`, whatever the id holds: it is one name, not a path. */
function pathOf(model: string): string {
  const [, kind = 'models', name = ''] = /^(?:(models|tunedModels)\/)?(.*)$/s.exec(model) ?? [];
  return `${kind}/${encodeURIComponent(name.toWellFormed())}`;
}

function toConfig({ model, maxOutputTokens, temperature }: ModelRequest): object {
  const thinkingConfig = geminiFamily(model)?.thinkingConfig;
  const config = {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
  return Object.keys(config).length === 0 ? {} : { generationConfig: config };
}
