import { canonicalDigest } from '../../../../core/base/canonical.ts';
import { sha256Hex } from '../../../../core/base/digest.ts';
import type { HandUse } from '../../../../core/contract/hands.ts';
import type { ToolRequest } from '../../../../core/contract/hook-payload.ts';
import type { UsedHand } from '../../record/used-hand.ts';

const maxCharactersKept = 16 * 1024;

/** What a record holds of what was asked for: masked, and in characters that it can hold. */
export function keptUse(
  { tool, action, paths: [path] = [], command }: ToolRequest,
  use: HandUse,
  mask: (text: string) => string,
): Pick<UsedHand, 'tool' | 'action' | 'path' | 'command' | 'argumentsDigest'> {
  const kept = (text: string): string =>
    mask(text).slice(0, maxCharactersKept).replaceAll('\0', '\ufffd').toWellFormed();
  // The bytes of a write by their own digest.
  const plain = use.kind === 'write' ? { ...use, bytes: sha256Hex(use.bytes) } : use;
  const masked = Object.entries(plain).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'string' ? mask(value).toWellFormed() : value,
  ]);
  return {
    tool,
    action,
    ...(path === undefined ? {} : { path: kept(path) }),
    ...(command === undefined ? {} : { command: kept(command) }),
    argumentsDigest: canonicalDigest(Object.fromEntries(masked)),
  };
}
