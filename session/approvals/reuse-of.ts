import { approvalKey } from './approval-key.ts';
import { classifyUse } from './classify-use.ts';
import { commandPattern } from './command-pattern.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

/**
 * What each answer to the question about a use would cover, in a person's words; by option (resolutions,
 * interactions).
 */
export function reuseOf(use: ToolUse, ttlSeconds: number): Readonly<Record<string, string>> {
  const once = 'this one call';
  const deny = { deny: 'nothing: it is not made', abort: 'nothing: it is not made, and the turn stops' };
  const same = (text: string) => ({
    approve: once,
    approve_session: text,
    approve_ttl: text,
    approve_directory_ttl: text,
    approve_pattern_ttl: text,
  });
  const everything = isCommand(use)
    ? 'every command, dangerous ones included, in this sandbox on this branch, until writ ends; asked twice'
    : 'this one call, and every command in this sandbox on this branch, until writ ends; what is no command, as the next file, is asked about all the same; asked twice';
  if (use.isOutside) {
    const fresh = 'this one call: outside the sandbox every call is asked about';
    return { ...same(fresh), allow_all_commands: fresh, ...deny };
  }
  if (approvalKey(use) === undefined) {
    const inexact = 'this one call: what it does is not known here to the last character';
    return { ...same(inexact), allow_all_commands: everything, ...deny };
  }
  const judged = classifyUse(use);
  const time = `for ${ttlSeconds} s`;
  const here = 'in this directory, in this sandbox, on this branch';
  const pattern = commandPattern(use, judged);
  const isDangerous = judged.class === 'dangerous';
  const reused = {
    approve: once,
    approve_session: `until writ ends: exactly this, ${here}`,
    approve_ttl: `${time}: exactly this, ${here}`,
    approve_directory_ttl: isDangerous
      ? `${time}: exactly this, ${here}; a dangerous command is not allowed elsewhere`
      : `${time}: exactly this, in this directory and below, in this sandbox, on this branch`,
    approve_pattern_ttl:
      pattern === undefined
        ? `${time}: exactly this, ${here}${isCommand(use) ? '; commands like it cannot be told by their first words' : ''}`
        : `${time}: every plain command that begins with \`${pattern.join(' ')}\` and is not dangerous, ${here}`,
    allow_all_commands: everything,
    ...deny,
  };
  return ttlSeconds > 0
    ? reused
    : { ...reused, approve_ttl: once, approve_directory_ttl: once, approve_pattern_ttl: once };
}
