import type { TableReader } from './table-reader.ts';

/** `[providers.<name>]`: settings of each backend, by its name. The backend defines which settings it accepts. */
export type ProvidersConfig = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `[models."<id>"]`: USD per million tokens, and how many tokens question and reply may have together. */
export interface ModelRow {
  readonly price?: { readonly input: number; readonly output: number; readonly cachedInput: number };
  readonly contextTokens?: number;
}

/** By the vendor's model id. Unknown ids are allowed. */
export type ModelsConfig = Readonly<Record<string, ModelRow>>;

const maxPrice = 100_000;
const maxContext = 1_000_000_000;

/** Reads `[providers]`. The backend validates its names and values when it is opened. */
export function readProvidersSection(reader: TableReader): ProvidersConfig {
  return Object.fromEntries(
    reader.keys().map((name) => {
      const table = reader.table(name);
      return [name, Object.fromEntries(table.keys().map((key) => [key, table.text(key, '')]))];
    }),
  );
}

/** Reads `[models]`. A price needs both `input` and `output`, or neither; `cached_input` needs them too. */
export function readModelsSection(reader: TableReader): ModelsConfig {
  const ids = reader.keys().filter((id) => id !== allowHttp);
  return Object.fromEntries(ids.map((id) => [id, readRow(reader.table(id))]));
}

const allowHttp = 'allow_http';
const maxHosts = 32;

/** Reads `[models] allow_http`: hosts as a URL has them, in lower case, with the port where it is not 80. */
export function readPlainHttp(reader: TableReader): { readonly plainHttp?: readonly string[] } {
  if (!reader.has(allowHttp)) return {};
  const given = reader.texts(allowHttp, []);
  if (given.length > maxHosts) reader.refuse(reader.at(allowHttp), `expected at most ${maxHosts} hosts`);
  const plainHttp = given.map((text, index) => {
    const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`) : undefined;
    const isHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text);
    if (url !== undefined && isHost) return url.host;
    reader.refuse(`${reader.at(allowHttp)}[${index}]`, 'expected a host with its port, e.g. `gpubox:11434`');
    return '';
  });
  return { plainHttp };
}

function readRow(row: TableReader): ModelRow {
  const [input, output, cached] = ['input', 'output', 'cached_input'].map((key) =>
    row.number(key, undefined, 0, maxPrice),
  );
  const context = row.has('context') ? row.integer('context', 1, 1, maxContext) : undefined;
  row.end();
  if ((input === undefined) !== (output === undefined) || (cached !== undefined && input === undefined))
    row.refuse(row.path, 'expected `input` and `output`, in USD per million tokens, or neither');
  if (input === undefined && context === undefined)
    row.refuse(row.path, 'expected a price (`input` and `output`), `context`, or both');
  return {
    ...(input === undefined || output === undefined
      ? {}
      : { price: { input, output, cachedInput: cached ?? input } }),
    ...(context === undefined ? {} : { contextTokens: context }),
  };
}
