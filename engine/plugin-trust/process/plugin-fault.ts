import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';

/** Why a plugin's process gave no answer. */
export type PluginFaultReason =
  | 'threw'
  | 'deadline'
  | 'crashed'
  | 'garbage'
  | 'flood'
  | 'closed'
  | 'sandbox-failed';

/** PLUGIN_PROCESS_FAULT, with `detail {plugin, reason, said?}`; `said` is what the process printed, its last words. */
export function pluginFault(
  plugin: string,
  reason: PluginFaultReason,
  found: string,
  more: Readonly<Record<string, unknown>> = {},
): WritError {
  return new WritError('PLUGIN_PROCESS_FAULT', {
    message: `plugin \`${plugin}\` gave no answer (${reason}): ${printable(found.slice(0, 1000))}`,
    detail: { plugin, reason, ...more },
  });
}

/** Shortest beginning of a secret that is masked: a shorter one is any text. */
const leastCharacters = 8;
/** More of a text is never shown, and is not looked through. */
const mostCharacters = 64 * 1024;

/** Text without the secrets that its author was handed, nor the beginnings of them where a text is cut. */
export function withoutHanded(text: string, secrets: readonly string[]): string {
  let told = text.slice(0, mostCharacters);
  // One may begin with another: the longest first.
  for (const secret of [...secrets].sort((left, right) => right.length - left.length)) {
    const least = Math.min(leastCharacters, secret.length);
    if (least === 0 || !told.includes(secret.slice(0, least))) continue;
    for (let length = Math.min(secret.length, told.length); length >= least; length -= 1)
      told = told.replaceAll(secret.slice(0, length), '[secret]');
  }
  return told;
}
