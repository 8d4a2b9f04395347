/* The `writ vault` commands. */
import { readInput } from '../../api/read-input.ts';
import {
  changeVault,
  globalVault,
  isScope,
  maxScopes,
  maxValueLength,
  parseSecretName,
  readVault,
  whyNoSecret,
} from '../../api/vault/vault.ts';
import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { pickVault, vaultsHere } from '../command-parts/vaults.ts';

/** `writ vault set NAME`: the value from stdin, without the line end behind it; its scopes stay where none is given. */
export async function vaultSetCommand(context: CommandContext): Promise<CommandResult> {
  const { args, options, stdin } = context;
  const name = parseSecretName(args[0] ?? '');
  const place = await pickVault(context);
  if ('isTTY' in stdin && stdin.isTTY === true)
    throw new WritError('USAGE', {
      message: 'writ reads the value from a pipe or a file only: a terminal would show it',
      hints: [`without showing it: \`read -rs V && printf %s "$V" | writ vault set ${name}\``],
    });
  const value = toValue(await readInput(context, '-', { maxBytes: 4 * maxValueLength }), name);
  const given = scopesOf(options.values('scope'));
  let replaced = false;
  let scopes = given;
  await changeVault(place, (secrets) => {
    const before = secrets.get(name);
    replaced = before !== undefined;
    if (before !== undefined && given.length === 0) scopes = before.scopes;
    return new Map([...secrets, [name, { value, scopes }]]);
  });
  return succeeded({ name, vault: place.kind, replaced, scopes: [...scopes] }, (printer) =>
    printer.line(`${replaced ? 'replaced' : 'kept'} ${name} in the ${place.kind} vault`),
  );
}

function scopesOf(given: readonly string[]): readonly string[] {
  const odd = given.find((scope) => !isScope(scope));
  if (odd === undefined && given.length <= maxScopes) return [...new Set(given)].sort();
  throw new WritError('USAGE', {
    message: `expected at most ${maxScopes} scopes, each of 1 to 128 printable characters without spaces`,
    detail: { option: '--scope' },
  });
}

function toValue(bytes: Uint8Array, name: string): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw unusable(name, 'it is not UTF-8');
  }
  const fault = whyNoSecret(text);
  if (fault !== undefined) throw unusable(name, fault);
  return text;
}

function unusable(name: string, found: string): WritError {
  return new WritError('USAGE', {
    message: `the value for \`${name}\` on stdin is not usable: ${found}`,
    detail: { name, found },
  });
}

/** `writ vault list`: names alone, of the repository's vault before the user's. */
export async function vaultListCommand(context: CommandContext): Promise<CommandResult> {
  const places = context.options.flag('global') ? [globalVault(context.env)] : await vaultsHere(context);
  const secrets: { readonly name: string; readonly vault: string; readonly scopes: string[] }[] = [];
  for (const place of places)
    for (const [name, { scopes }] of [...(await readVault(place))].sort())
      secrets.push({ name, vault: place.kind, scopes: [...scopes] });
  return succeeded({ secrets }, (printer) => {
    printer.table(secrets.map(({ name, vault, scopes }) => [name, vault, scopes.join(' ')]));
    if (secrets.length === 0) printer.note('no secrets; `writ vault set NAME` reads one from stdin');
  });
}

/** `writ vault rm NAME`. SECRET_UNKNOWN. */
export async function vaultRmCommand(context: CommandContext): Promise<CommandResult> {
  const name = parseSecretName(context.args[0] ?? '');
  const place = await pickVault(context);
  await changeVault(place, (secrets) => {
    if (secrets.has(name)) return new Map([...secrets].filter(([one]) => one !== name));
    throw new WritError('SECRET_UNKNOWN', {
      message: `the ${place.kind} vault has no secret \`${name}\``,
      detail: { name, vault: place.kind },
    });
  });
  return succeeded({ name, vault: place.kind }, (printer) =>
    printer.line(`removed ${name} from the ${place.kind} vault`),
  );
}
