import { canonicalDigest } from '../../../../core/base/canonical.ts';
import { sha256Hex } from '../../../../core/base/digest.ts';
import type { ToolRequest } from '../../../../core/contract/hook-payload.ts';
import type { KeptArguments } from '../../record/used-tool.ts';

const maxCharactersKept = 16 * 1024;

/** What a tool was asked for, by name; bytes count by their own digest. */
export type ToolArguments = Readonly<Record<string, string | number | Uint8Array | undefined>>;

/** What a record holds of what was asked for: masked, and in characters that it can hold. */
export function keptArguments(
  { tool, action, paths: [path] = [], command, query }: ToolRequest,
  given: ToolArguments,
  mask: (text: string) => string,
): KeptArguments {
  const kept = (text: string): string =>
    mask(text).slice(0, maxCharactersKept).replaceAll('\0', '\ufffd').toWellFormed();
  const plain = (value: ToolArguments[string]): unknown => {
    if (typeof value === 'string') return mask(value).toWellFormed();
    return value instanceof Uint8Array ? sha256Hex(value) : value;
  };
  const masked = Object.entries(given).map(([name, value]): [string, unknown] => [name, plain(value)]);
  return {
    tool,
    action,
    ...(path === undefined ? {} : { path: kept(path) }),
    ...(command === undefined ? {} : { command: kept(command) }),
    ...(query === undefined ? {} : { query: kept(query) }),
    argumentsDigest: canonicalDigest(Object.fromEntries(masked)),
  };
}
