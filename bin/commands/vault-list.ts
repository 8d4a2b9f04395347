import { globalVault, readVault } from '../../api/vault/vault.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { vaultsHere } from '../command-parts/vaults.ts';

/** `writ vault list`: names alone, of the repository's vault before the user's. */
export async function run(context: CommandContext): Promise<CommandResult> {
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
