/* Recognises commands that are allowed without parsing shell grammar. */
import type { EffectiveIntentSpec, EffectiveToolRule } from '../../core/interfaces/intentspec.gen.ts';
import { checksOf } from '../../spec/checks-of.ts';

/**
 * Programs that run no other program out of their own arguments as far as the shell grammar knows: no wrapper, no
 * shell, no built-in.
 */
const programs: ReadonlySet<string> = new Set(
  'biome bun cargo deno dotnet eslint go gradle jest make mvn mypy node npm npx pnpm prettier pytest python python3 ruff tap tsc vitest yarn'.split(
    ' ',
  ),
);

/** Words without anything that a shell expands, quotes or redirects. */
const plainText = /^[A-Za-z0-9_][A-Za-z0-9_.,:@%+/=-]*(?: +[A-Za-z0-9_.,:@%+/=-]+)*$/;

/** Constraints that never deny a plain command. */
const harmless: ReadonlySet<string> = new Set(['allowCommands', 'maxOutputBytes']);

/**
 * Returns true only if every check command passes for a reason that needs no grammar. False is inconclusive: then
 * `commandProblems` loads the grammar. This shortcut avoids loading a shell parser to validate an ordinary spec.
 */
export function isPlainlyAllowed(spec: EffectiveIntentSpec, registeredRules: readonly string[]): boolean {
  const { allow, deny } = spec.security.toolAcl;
  if (!deny.every((rule) => deniesNone(rule, spec))) return false;
  const entries: string[][] = [];
  for (const { tool, actions, constraints } of allow) {
    if (tool !== 'workspace.command' || !actions.includes('execute')) continue;
    if (!Object.keys(constraints).every((key) => harmless.has(key))) return false;
    const { allowCommands, maxOutputBytes } = constraints;
    if (maxOutputBytes !== undefined && !Number.isSafeInteger(maxOutputBytes)) return false;
    if (!Array.isArray(allowCommands)) return false;
    for (const entry of allowCommands) {
      if (typeof entry !== 'string' || !plainText.test(entry)) return false;
      entries.push(entry.split(/ +/));
    }
  }
  return checksOf(spec).every(({ check: { kind, command = '' } }) => {
    const words = command.split(/ +/);
    const [program = ''] = words;
    if (kind === 'policy' && registeredRules.includes(program)) return true;
    if (!plainText.test(command) || !programs.has(program)) return false;
    return entries.some((entry) => entry.every((word, index) => words[index] === word));
  });
}

/** A deny rule for another tool, or one that only looks for texts which no check command holds. */
function deniesNone({ tool, constraints }: EffectiveToolRule, spec: EffectiveIntentSpec): boolean {
  if (tool !== 'workspace.command' && !tool.includes('*')) return true;
  const { denySubstrings, ...others } = constraints;
  if (Object.keys(others).length > 0 || !Array.isArray(denySubstrings) || denySubstrings.length === 0)
    return false;
  return denySubstrings.every(
    (needle) =>
      typeof needle === 'string' &&
      checksOf(spec).every(
        ({ check: { command = '' } }) => !command.toLowerCase().includes(needle.toLowerCase()),
      ),
  );
}
